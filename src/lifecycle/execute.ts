import type { NodePlan } from '../contract/node-plan.ts'
import type { Claim } from '../contract/request.ts'
import { settleAll } from '../kit/settle.ts'
import { describeStep } from '../rollout/describe.ts'
import type { Step } from '../rollout/step.ts'
import { list } from '../rollout/words.ts'
import { applyThrough } from './apply.ts'
import { signFor } from './certificates.ts'
import { passGate } from './gate.ts'
import type { Observer } from './observer.ts'
import type { Session } from './session.ts'
import { type Tell, toldAside, toldStep } from './stream.ts'
import { type Proposal, secretsOf, type Wish } from './survey.ts'

export interface ExecuteOptions {
  readonly claim: Claim
  readonly observer: Observer
  /** Done once the API answers, before anything that needs it: the rights of our programs. */
  readonly whenApiAnswers: () => Promise<void>
  readonly tell: Tell
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** A slow disk and a cold start together stay below it. */
const gateTime = 300_000

/**
 * Does what was proposed, step by step, each behind what must be so before. Once it shall stop, hosts finish what they are
 * at, and no other step is begun.
 */
export async function execute(
  wish: Wish,
  { plans, steps }: Proposal,
  sessions: ReadonlyMap<string, Session>,
  options: ExecuteOptions,
): Promise<void> {
  const { claim, tell, now, signal } = options
  const secrets = secretsOf(wish)
  const hosts = plans.map(({ host }) => host)
  const certificates = await toldAside(
    options,
    { step: 'certificates', title: `certificates for ${list(hosts)}`, hosts },
    async () => certify(wish, plans, sessions, claim, now()),
  )
  const planOf = new Map(plans.map((plan) => [plan.host, plan]))
  const lastApi = steps.findLastIndex(({ stages }) => stages.includes('api'))

  tell({ type: 'steps-planned', steps: steps.map(told) })
  for (const [index, step] of steps.entries()) {
    signal.throwIfAborted()
    tell({ type: 'step-started', step: step.id, stage: step.stage })
    await toldStep(options, { step: step.id }, async () => {
      await pass(step.before, options)
      await settleAll(
        step.hosts.flatMap((host) => {
          const [plan, session] = [planOf.get(host), sessions.get(host)]
          if (plan === undefined || session === undefined) return []
          const delivery = { plan, claim, secrets, certificates: certificates.get(host) ?? {} }
          tell({ type: 'step-started', step: step.id, stage: step.stage }, { host })
          return [
            toldStep(options, { step: step.id, host }, async () =>
              applyThrough(session, delivery, step.stage, tell),
            ),
          ]
        }),
      )
      await pass(step.after, options)
      if (index === lastApi) await firstRights(options)
    })
  }
}

function told(step: Step): { step: string; title: string; hosts: string[]; stage: Step['stage'] } {
  return { step: step.id, title: describeStep(step), hosts: [...step.hosts], stage: step.stage }
}

async function firstRights({ whenApiAnswers, tell, now }: ExecuteOptions): Promise<void> {
  tell({ type: 'waiting', for: 'the API to take the rights of our programs', since: now().toISOString() })
  await whenApiAnswers()
}

async function pass(gates: Step['before'], { observer, tell, now, signal }: ExecuteOptions): Promise<void> {
  for (const gate of gates) await passGate(gate, observer, tell, { within: gateTime, now, signal })
}

/** Keys are made on the hosts that use them, and only requests come here. */
async function certify(
  { identity }: Wish,
  plans: readonly NodePlan[],
  sessions: ReadonlyMap<string, Session>,
  claim: Claim,
  now: Date,
): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const signed = plans.map(async (plan) => {
    const session = sessions.get(plan.host)
    if (session === undefined) return [plan.host, {}] as const
    const { requests } = await session.ask(
      { type: 'certificate-requests', claim, plan },
      'certificate-requests',
    )
    return [plan.host, await signFor(identity, plan, requests, now)] as const
  })
  return new Map(await settleAll(signed))
}
