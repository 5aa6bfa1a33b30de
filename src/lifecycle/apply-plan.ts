import type { NodePlan } from '../contract/node-plan.ts'
import type { Claim } from '../contract/request.ts'
import type { Stage } from '../contract/stage.ts'
import { hasCode } from '../kit/errors.ts'
import type { Secret } from '../pki/secret.ts'
import { runOnAgent } from './run-on-agent.ts'
import type { Session } from './session.ts'
import type { EmitEvent } from './event-stream.ts'

/** The plan of a host and the data that the host needs to apply it. */
export interface PlanDelivery {
  readonly plan: NodePlan
  readonly claim: Claim
  /** Every secret file of the cluster. A host gets only the files that its plan names. */
  readonly secrets: ReadonlyMap<string, Secret>
  /** Certificates signed for the host, as PEM by file path. */
  readonly certificates: Readonly<Record<string, string>>
}

/**
 * Number of attempts on a host whose run was interrupted because its agent was killed or the host lost power.
 */
const maxAttempts = 3

/**
 * Applies the plan of one host up to and including a stage. After an interrupt the run starts again and skips
 * ops that are already done.
 */
export async function applyPlanThrough(
  session: Session,
  delivery: PlanDelivery,
  through: Stage,
  emit: EmitEvent,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await applyOnce(session, delivery, through, emit)
      return
    } catch (error) {
      const isInterrupted = hasCode(error, 'AGENT_INTERRUPTED') || hasCode(error, 'AGENT_NO_SUCH_RUN')
      if (!isInterrupted || attempt === maxAttempts) throw error
    }
  }
}

async function applyOnce(
  session: Session,
  { plan, claim, secrets, certificates }: PlanDelivery,
  through: Stage,
  emit: EmitEvent,
): Promise<void> {
  await runOnAgent(session, emit, {
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
