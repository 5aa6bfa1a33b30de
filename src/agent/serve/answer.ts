import { hostname } from 'node:os'
import type { Event } from '../../contract/event.ts'
import type { Facts } from '../../contract/facts.ts'
import type { Finding } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { AgentRequest, AgentResponse, Claim } from '../../contract/request.ts'
import type { ClaimStore } from './claim-store.ts'
import { failureOf, type Emit, type Runs } from './runs.ts'

export type Ask = AgentRequest['ask']
export type Apply = Extract<Ask, { type: 'apply' }>

/** What the agent can do to its host. */
export interface HostWork {
  facts(host: string): Promise<Facts>
  diff(plan: NodePlan): Promise<{ ops: Op[]; findings: Finding[] }>
  certificateRequests(plan: NodePlan): Promise<Record<string, string>>
  apply(request: Apply, emit: Emit, signal: AbortSignal): Promise<void>
  reset(emit: Emit, signal: AbortSignal): Promise<void>
}

export interface Desk {
  readonly work: HostWork
  readonly runs: Runs
  readonly claims: ClaimStore
  /** Of hyperkube. */
  readonly version: string
}

/** Answers one request: with one response, or for an attach with the events of the run. */
export async function* answer(
  desk: Desk,
  { ask }: AgentRequest,
  signal: AbortSignal,
): AsyncGenerator<AgentResponse | Event> {
  try {
    if (ask.type === 'attach') yield* desk.runs.attach(ask.run, ask.from, signal)
    else yield response(await respond(desk, ask))
  } catch (error) {
    const held = desk.claims.held
    yield response({
      type: 'refused',
      ...failureOf(error),
      ...(held === undefined ? {} : { holder: claimOf(held) }),
    })
  }
}

async function respond(
  { work, runs, claims, version }: Desk,
  ask: Exclude<Ask, { type: 'attach' }>,
): Promise<Answer> {
  switch (ask.type) {
    case 'hello':
      return { type: 'hello', version, ...(claims.held === undefined ? {} : { claim: claimOf(claims.held) }) }
    case 'facts':
      return { type: 'facts', facts: await work.facts(ask.host) }
    case 'diff':
      return { type: 'diff', ...(await work.diff(ask.plan)) }
    case 'claim':
      await claims.take(ask.claim, ask.force, runs.busy)
      return { type: 'claimed', claim: ask.claim }
    case 'release':
      await claims.release(ask.claim)
      return { type: 'released' }
    case 'certificate-requests':
      await claims.require(ask.claim)
      return { type: 'certificate-requests', requests: await work.certificateRequests(ask.plan) }
    case 'apply':
      await claims.require(ask.claim)
      await runs.start(ask.run, `apply through ${ask.through}`, async (emit, signal) =>
        work.apply(ask, emit, signal),
      )
      return { type: 'running', run: ask.run }
    default:
      await claims.require(ask.claim)
      await runs.start(ask.run, `reset ${hostname()}`, async (emit, signal) => work.reset(emit, signal))
      return { type: 'running', run: ask.run }
  }
}

function claimOf({ holder, generation }: Claim): Claim {
  return { holder, generation }
}

type Answer = AgentResponse['answer']

export function response(content: Answer): AgentResponse {
  return { apiVersion: 'hyperkube.dev/v1', kind: 'AgentResponse', answer: content }
}
