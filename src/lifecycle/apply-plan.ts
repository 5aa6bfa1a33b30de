import type { NodePlan } from '../contract/node-plan.ts'
import type { Claim } from '../contract/request.ts'
import type { Stage } from '../contract/stage.ts'
import { hasCode } from '../kit/errors.ts'
import type { Secret } from '../pki/secret.ts'
import { inRun } from './run-on-agent.ts'
import type { Session } from './session.ts'
import type { Tell } from './event-stream.ts'

/** What goes to a host with its plan. */
export interface Delivery {
  readonly plan: NodePlan
  readonly claim: Claim
  /** Every secret file of the cluster; a host gets only those that its plan names. */
  readonly secrets: ReadonlyMap<string, Secret>
  /** Signed for it, by path. */
  readonly certificates: Readonly<Record<string, string>>
}

/** How often a host is asked to go on that was cut in the middle: its agent was killed, or it lost its power. */
const turns = 3

/** Takes one host through its plan, up to and with a stage. A run that was cut begins anew, and finds what was done. */
export async function applyThrough(
  session: Session,
  delivery: Delivery,
  through: Stage,
  tell: Tell,
): Promise<void> {
  for (let turn = 1; ; turn++) {
    try {
      await applyOnce(session, delivery, through, tell)
      return
    } catch (error) {
      const cut = hasCode(error, 'AGENT_INTERRUPTED') || hasCode(error, 'AGENT_NO_SUCH_RUN')
      if (!cut || turn === turns) throw error
    }
  }
}

async function applyOnce(
  session: Session,
  { plan, claim, secrets, certificates }: Delivery,
  through: Stage,
  tell: Tell,
): Promise<void> {
  await inRun(session, tell, {
    type: 'apply',
    claim,
    through,
    plan,
    secrets: secretsFor(plan, secrets),
    certificates: { ...certificates },
  })
}

function secretsFor({ components }: NodePlan, secrets: ReadonlyMap<string, Secret>): Record<string, string> {
  const named = components.flatMap(({ files }) =>
    files.flatMap(({ content }) => (content.kind === 'secret' ? [content.secret] : [])),
  )
  return Object.fromEntries(
    [...new Set(named)].flatMap((name) => {
      const secret = secrets.get(name)
      return secret === undefined ? [] : [[name, Buffer.from(secret.reveal()).toString('base64')] as const]
    }),
  )
}
