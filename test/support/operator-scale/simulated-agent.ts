import type { Duplex } from 'node:stream'
import packageFile from '../../../package.json' with { type: 'json' }
import { compareStages, type Stage } from '../../../src/contract/component-plan.ts'
import type { Event } from '../../../src/contract/event.ts'
import type { Facts } from '../../../src/contract/facts.ts'
import type { HostHealth } from '../../../src/contract/health.ts'
import type { NodePlan } from '../../../src/contract/node-plan.ts'
import type { Op } from '../../../src/contract/op.ts'
import { type AgentRequest, type AgentResponse, requestFormat } from '../../../src/contract/request.ts'
import { readVersioned } from '../../../src/contract/versioned.ts'
import { diffPlan } from '../../../src/diff/diff.ts'
import { resourcesAfterApply } from '../../../src/diff/plan-resources.ts'
import type { PresentResource } from '../../../src/diff/resource.ts'
import { readLines } from '../../../src/kit/lines.ts'
import { makeRequest } from '../../../src/pki/request.ts'

type RequestBody = AgentRequest['body']
type ApplyRequest = Extract<RequestBody, { type: 'apply' }>

const [major, minor, patch] = packageFile.version.split('.')
/**
 * Version of the simulated agents: newer than the program in this repository, so that an operator does not
 * replace the agents.
 */
export const simulatedVersion = `${major}.${minor}.${Number(patch) + 1}-simulated`

export interface SimulatedAgentOptions {
  readonly facts: Facts
  /** Called when the host has applied its plan up to and including a stage. */
  readonly onApplied: (plan: NodePlan, through: Stage) => void
  /** Returns true if the host cannot apply plans now, as a planted failure. */
  readonly isBroken?: () => boolean
}

/**
 * Agent of a host that exists only in memory. It implements the agent protocol. Its ops come from the real
 * diff between the plan and the resources that earlier runs have applied.
 */
export class SimulatedAgent {
  readonly #options: SimulatedAgentOptions
  readonly #runs = new Map<string, ApplyRequest>()
  #present: readonly PresentResource[] = []
  #generation = 0

  constructor(options: SimulatedAgentOptions) {
    this.#options = options
  }

  /** Answers the requests of one `agent-call` until the operator closes it. */
  async serve(stream: Duplex): Promise<void> {
    for await (const line of readLines(stream)) {
      const { body } = readVersioned(requestFormat, JSON.parse(line))
      if (body.type === 'attach') this.#run(body.run, body.from, stream)
      else
        send(stream, {
          apiVersion: 'hyperkube.dev/v1',
          kind: 'AgentResponse',
          body: await this.#respond(body),
        })
    }
  }

  async #respond(request: Exclude<RequestBody, { type: 'attach' }>): Promise<AgentResponse['body']> {
    switch (request.type) {
      case 'hello':
        return {
          type: 'hello',
          version: simulatedVersion,
          ...(this.#generation === 0 ? {} : { claim: { holder: 'nobody', generation: this.#generation } }),
        }
      case 'facts':
        return { type: 'facts', facts: this.#options.facts }
      case 'diff':
        return { type: 'diff', ops: diffPlan(request.plan, this.#present), findings: [] }
      case 'claim':
        this.#generation = request.claim.generation
        return { type: 'claimed', claim: request.claim }
      case 'release':
        return { type: 'released' }
      case 'clock':
        return { type: 'clock', time: Date.now() }
      case 'listen':
        return { type: 'listening', tcp: request.tcp, udp: request.udp }
      case 'stop-listening':
        return { type: 'stopped-listening' }
      case 'probe':
        return { type: 'probed', results: request.targets.map(() => ({ outcome: 'ok', milliseconds: 1 })) }
      case 'certificate-requests':
        return { type: 'certificate-requests', requests: await this.#makeCertificateRequests(request.plan) }
      case 'health':
        return { type: 'health', health: buildHealth() }
      case 'certificates':
        return { type: 'certificates', certificates: [] }
      case 'apply':
        this.#runs.set(request.run, request)
        return { type: 'running', run: request.run }
      default:
        return { type: 'refused', code: 'SIMULATED', message: `not simulated: ${request.type}` }
    }
  }

  async #makeCertificateRequests({ components }: NodePlan): Promise<Record<string, string>> {
    const present = new Set(this.#present.map(({ name }) => name))
    const due = components
      .flatMap(({ certificates }) => certificates)
      .filter(({ certificateFile }) => !present.has(certificateFile))
    const requests = due.map(async ({ certificateFile, subject, names }) => {
      const { request } = await makeRequest('simulated', subject, names)
      return [certificateFile, request] as const
    })
    return Object.fromEntries(await Promise.all(requests))
  }

  #run(run: string, from: number, stream: Duplex): void {
    const request = this.#runs.get(run)
    if (request === undefined) throw new Error(`there is no run ${run}`)
    this.#runs.delete(run)
    const { plan, through } = request
    let sequence = 0
    const emit = (body: Event['body'], component?: string): void => {
      sequence++
      if (sequence < from) return
      const time = new Date().toISOString()
      const subject = component === undefined ? {} : { component }
      send(stream, { apiVersion: 'hyperkube.dev/v1', kind: 'Event', run, sequence, time, ...subject, body })
    }
    const isDue = ({ stage }: { readonly stage: Stage }): boolean => compareStages(stage, through) <= 0
    emit({ type: 'run-started', command: 'apply' })
    if (this.#options.isBroken?.() === true) {
      const failure = { code: 'SIMULATED_FAILURE', message: 'this host cannot apply plans' }
      emit({ type: 'run-ended', result: { outcome: 'failed', failure } })
      return
    }
    for (const op of diffPlan(plan, this.#present).filter(isDue)) emitOp(op, emit)
    this.#present = [
      ...resourcesAfterApply(plan).filter(isDue),
      ...this.#present.filter((resource) => !isDue(resource)),
    ]
    this.#options.onApplied(plan, through)
    emit({ type: 'run-ended', result: { outcome: 'done' } })
  }
}

function buildHealth(): HostHealth {
  return {
    at: new Date().toISOString(),
    healPolicy: 'default',
    budget: { used: 0, max: 10, windowMs: 600_000 },
    ...{ components: [], probes: [], actions: [] },
  }
}

function emitOp(op: Op, emit: (body: Event['body'], component?: string) => void): void {
  emit({ type: 'op-started', op }, op.component)
  emit({ type: 'op-ended', op, result: { outcome: 'done' } }, op.component)
}

function send(stream: Duplex, message: AgentResponse | Event): void {
  stream.write(`${JSON.stringify(message)}\n`)
}
