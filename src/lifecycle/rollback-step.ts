import type { NodePlan } from '../contract/node-plan.ts'
import { digestOf } from '../diff/digest.ts'
import { describe, HyperkubeError } from '../kit/errors.ts'
import { settleAll } from '../kit/settle-all.ts'
import { goBackPlan } from '../rollout/rollback-plan.ts'
import type { ApplyStep } from '../rollout/step.ts'
import type { Session } from './session.ts'

export interface GoBackScene {
  readonly plans: readonly NodePlan[]
  readonly sessions: ReadonlyMap<string, Session>
  /** Takes a host through a plan, up to the stage of the step. */
  readonly apply: (session: Session, plan: NodePlan) => Promise<void>
  /** Waits until the hosts of the step are well again. */
  readonly pass: () => Promise<void>
}

/**
 * A step in a cluster that lives did not end well: its hosts become what they were before, as far as this step is
 * concerned. Answers with what to say of it; the same error where there is nothing to go back to.
 */
export async function goBack(step: ApplyStep, error: unknown, scene: GoBackScene): Promise<unknown> {
  const back = await plansBefore(step, scene)
  if (back.size === 0) return error
  const names = [...back.keys()].join(', ')
  // The rest of it was told by the host itself.
  const [why = ''] = describe(error).split('\n')
  try {
    await settleAll(
      [...back].map(async ([host, plan]) => {
        const session = scene.sessions.get(host)
        if (session !== undefined) await scene.apply(session, plan)
      }),
    )
    await scene.pass()
  } catch (again) {
    return new HyperkubeError(
      'ROLLOUT_NOT_BACK',
      `${why}; ${names} shall be as before, and that did not end well either: ${describe(again)}`,
      { hint: 'hyperkube status says how the hosts are', cause: error },
    )
  }
  return new HyperkubeError(
    'ROLLOUT_WENT_BACK',
    `${why}; ${names} went back to what it was before, and is well`,
    {
      hint: 'no other host was touched after it; mend the cause, then: hyperkube up',
      cause: error,
    },
  )
}

async function plansBefore(
  { hosts, stages }: ApplyStep,
  { plans, sessions }: GoBackScene,
): Promise<ReadonlyMap<string, NodePlan>> {
  const all = await settleAll(
    plans
      .filter(({ host }) => hosts.includes(host))
      .map(async (plan) => {
        const answer = await sessions
          .get(plan.host)
          ?.ask({ type: 'former-plan', than: digestOf(plan) }, 'former-plan')
        const back = answer?.plan === undefined ? undefined : goBackPlan(plan, answer.plan, stages)
        return back === undefined ? [] : [[plan.host, back] as const]
      }),
  )
  return new Map(all.flat())
}
