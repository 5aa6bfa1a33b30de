import { randomUUID } from 'node:crypto'
import type { Event } from '../contract/event.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Claim } from '../contract/request.ts'
import type { Stage } from '../contract/stage.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Secret } from '../pki/secret.ts'
import type { Session } from './session.ts'
import type { Tell } from './stream.ts'

/** What goes to a host with its plan. */
export interface Delivery {
  readonly plan: NodePlan
  readonly claim: Claim
  /** Every secret file of the cluster; a host gets only those that its plan names. */
  readonly secrets: ReadonlyMap<string, Secret>
  /** Signed for it, by path. */
  readonly certificates: Readonly<Record<string, string>>
}

/** Takes one host through its plan, up to and with a stage. */
export async function applyThrough(
  session: Session,
  { plan, claim, secrets, certificates }: Delivery,
  through: Stage,
  tell: Tell,
): Promise<void> {
  const run = randomUUID()
  await session.ask(
    {
      type: 'apply',
      claim,
      run,
      through,
      plan,
      secrets: secretsFor(plan, secrets),
      certificates: { ...certificates },
    },
    'running',
  )
  let end: Event | undefined
  await session.follow(run, (event) => {
    if (event.what.type === 'run-ended') end = event
    else if (event.what.type !== 'run-started') tell(event.what, { host: plan.host, ...component(event) })
  })
  const result = end?.what.type === 'run-ended' ? end.what.result : undefined
  if (result?.outcome === 'failed') {
    const { code, message, hint } = result.failure
    throw new HyperkubeError(code, message, { host: plan.host, ...(hint === undefined ? {} : { hint }) })
  }
  if (result?.outcome === 'interrupted') {
    throw new HyperkubeError('AGENT_INTERRUPTED', 'its agent was stopped in the middle of the work', {
      host: plan.host,
      hint: 'run the same command again: it goes on where this one ended',
    })
  }
}

function component({ component: name }: Event): { component?: string } {
  return name === undefined ? {} : { component: name }
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
