import { randomUUID } from 'node:crypto'
import type { Stage } from '../../contract/component-plan.ts'
import type { Event } from '../../contract/event.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Claim } from '../../contract/request.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import type { Secret } from '../../pki/secret.ts'
import type { AgentRequestBody } from './agent-link.ts'
import type { EmitEvent } from './event-stream.ts'
import type { Session } from './session.ts'

type WithoutRun<T> = T extends { run: string; claim: unknown } ? Omit<T, 'run'> : never
/** A request that an agent executes as a run. The run id is added when the request is sent. */
export type AgentRunRequest = WithoutRun<AgentRequestBody>

/** Starts a run on a host and waits for its end. */
export async function runOnAgent(session: Session, emit: EmitEvent, request: AgentRunRequest): Promise<void> {
  const run = randomUUID()
  await session.request({ ...request, run }, 'running')
  await followRun(session, run, emit)
}

/** Follows a run of a host, emits its events, and throws if the run failed. */
async function followRun(
  session: Pick<Session, 'host' | 'follow'>,
  run: string,
  emit: EmitEvent,
): Promise<void> {
  const { host } = session
  let end: Event | undefined
  await session.follow(run, (event) => {
    if (event.body.type === 'run-ended') end = event
    else if (event.body.type !== 'run-started') emit(event.body, { host, ...component(event) })
  })
  const result = end?.body.type === 'run-ended' ? end.body.result : undefined
  if (result?.outcome === 'failed') {
    const { code, message, hint } = result.failure
    throw new HyperkubeError(code, message, { host, ...(hint === undefined ? {} : { hint }) })
  }
  if (result?.outcome === 'interrupted') {
    throw new HyperkubeError('AGENT_INTERRUPTED', 'the agent was stopped before its run ended', {
      host,
      hint: 'run the same command again to resume',
    })
  }
}

function component({ component: name }: Event): { component?: string } {
  return name === undefined ? {} : { component: name }
}

/** The plan of a host and the data that the host needs to apply it. */
interface PlanDelivery {
  readonly plan: NodePlan
  readonly claim: Claim
  /** Every secret file of the cluster. A host gets only the files that its plan names. */
  readonly secrets: ReadonlyMap<string, Secret>
  /** Certificates signed for the host, as PEM by file path. */
  readonly certificates: Readonly<Record<string, string>>
  /** Limits how many requests with plans are sent at the same time. The runs are not limited. */
  readonly sendLimited?: <T>(work: () => Promise<T>) => Promise<T>
}

/**
 * Number of attempts on a host whose run was interrupted because its agent was killed or the host lost power.
 */
const maxAttempts = 3
/** Codes of a run that ended together with its agent, or that a stopping agent did not accept. */
const interruptions = ['AGENT_INTERRUPTED', 'AGENT_NO_SUCH_RUN', 'AGENT_STOPPING']

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
  await repeatInterrupted(async () => applyOnce(session, delivery, through, emit))
}

/** Repeats a run that was interrupted together with its agent. Calls `pause` before each further attempt. */
export async function repeatInterrupted(
  run: () => Promise<void>,
  pause: () => Promise<void> = async () => undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await run()
      return
    } catch (error) {
      if (!interruptions.some((code) => hasCode(error, code)) || attempt === maxAttempts) throw error
      await pause()
    }
  }
}

async function applyOnce(
  session: Session,
  { plan, claim, secrets, certificates, sendLimited = async (work) => work() }: PlanDelivery,
  through: Stage,
  emit: EmitEvent,
): Promise<void> {
  const run = randomUUID()
  await sendLimited(async () =>
    session.request(
      {
        ...{ type: 'apply', run, claim, through, plan },
        secrets: secretsFor(plan, secrets),
        certificates: { ...certificates },
      },
      'running',
    ),
  )
  await followRun(session, run, emit)
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
