import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import type { Stage } from '../../contract/component-plan.ts'
import type { Event } from '../../contract/event.ts'
import type { Facts } from '../../contract/facts.ts'
import type { Op } from '../../contract/op.ts'
import { type AgentRequest, type AgentResponse, requestFormat } from '../../contract/request.ts'
import { readVersioned } from '../../contract/versioned.ts'
import type { Remote, RunningProgram } from '../../ssh/remote.ts'
import type { EventBody } from '../agents/event-stream.ts'
import { Session } from '../agents/session.ts'

/** Returns the events of a host that applies a stage, including the end of the run. */
export type AgentScript = (host: string, through: Stage) => AsyncIterable<EventBody>

export interface ScriptedAgent {
  readonly run: AgentScript
  /** Facts that the host returns. */
  readonly facts?: Facts
  /** Ops that the host returns for a diff request. */
  readonly ops?: readonly Op[]
  /** Returns a response that replaces the default one; undefined keeps the default. */
  readonly respond?: (request: AgentRequest['body']) => AgentResponse['body'] | undefined
  /** Collects the requests that the host received. */
  readonly requests: { push(request: AgentRequest['body']): unknown }
  /** Overrides methods of the remote. */
  readonly remote?: Partial<Remote>
}

/** A run that succeeds without other events. */
export const successfulRun: AgentScript = async function* () {
  yield { type: 'run-ended', result: { outcome: 'done' } }
}

/** For tests: a session with an agent that changes nothing and emits the events of a script. */
export function scriptedSession(host: string, scripted: ScriptedAgent): Session {
  const remote: Remote = {
    host,
    exec: async () => Promise.reject(new Error('nothing is run on it')),
    upload: async () => Promise.reject(new Error('nothing is sent to it')),
    open: async () => conversation(host, scripted),
    dial: async () => Promise.reject(new Error('nothing is reached through it')),
    close: async () => undefined,
    ...scripted.remote,
  }
  return new Session(host, remote, async () => remote, new AbortController().signal)
}

function conversation(host: string, scripted: ScriptedAgent): RunningProgram {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const ended = Promise.withResolvers<{ code: number; stderr: string }>()
  const send = (message: AgentResponse | Event): void => void stdout.write(`${JSON.stringify(message)}\n`)
  const runs = new Map<string, Stage>()
  const serveRequests = async (): Promise<void> => {
    for await (const line of createInterface({ input: stdin })) {
      const { body: request } = readVersioned(requestFormat, JSON.parse(line))
      scripted.requests.push(request)
      if (request.type === 'apply') runs.set(request.run, request.through)
      if (request.type !== 'attach') send(buildResponse(request, scripted))
      else await emitRun(request.run, scripted.run(host, runs.get(request.run) ?? 'prepare'), send)
    }
  }
  serveRequests().catch((error: unknown) => ended.reject(error))
  return {
    stdin,
    stdout,
    ended: ended.promise,
    kill() {
      stdout.end()
      ended.resolve({ code: 0, stderr: '' })
    },
  }
}

async function emitRun(
  run: string,
  script: AsyncIterable<EventBody>,
  send: (event: Event) => void,
): Promise<void> {
  let sequence = 0
  for await (const body of script) {
    sequence++
    const time = '2001-01-01T00:00:00.000Z'
    send({ apiVersion: 'hyperkube.dev/v1', kind: 'Event', run, sequence, time, component: 'etcd', body })
  }
}

function buildResponse(request: AgentRequest['body'], scripted: ScriptedAgent): AgentResponse {
  return { apiVersion: 'hyperkube.dev/v1', kind: 'AgentResponse', body: chooseResponse(request, scripted) }
}

function chooseResponse(request: AgentRequest['body'], scripted: ScriptedAgent): AgentResponse['body'] {
  return scripted.respond?.(request) ?? buildDefaultResponse(request, scripted)
}

function buildDefaultResponse(
  request: AgentRequest['body'],
  { facts, ops = [] }: ScriptedAgent,
): AgentResponse['body'] {
  switch (request.type) {
    case 'apply':
    case 'stop-services':
    case 'restore-etcd-data':
    case 'wipe-etcd':
    case 'reset':
    case 'return-host':
      return { type: 'running', run: request.run }
    case 'certificates':
      return { type: 'certificates', certificates: [] }
    case 'certificate-requests':
      return { type: 'certificate-requests', requests: {} }
    case 'hello':
      return { type: 'hello', version: '0.1.0' }
    case 'claim':
      return { type: 'claimed', claim: request.claim }
    case 'release':
      return { type: 'released' }
    case 'end-restore':
      return { type: 'restore-ended' }
    case 'begin-provisional':
      return { type: 'provisional', provisional: { ...request.provisional, state: 'provisional' } }
    case 'move-provisional':
    case 'confirm-provisional':
      return { type: 'provisional' }
    case 'diff':
      return { type: 'diff', ops: [...ops], findings: [] }
    case 'previous-plan':
      return { type: 'previous-plan' }
    case 'clock':
      return { type: 'clock', time: Date.now() }
    case 'listen':
      return { type: 'listening', tcp: request.tcp, udp: request.udp }
    case 'stop-listening':
      return { type: 'stopped-listening' }
    case 'probe':
      return { type: 'probed', results: request.targets.map(() => ({ outcome: 'ok', milliseconds: 1 })) }
    default:
      return request.type === 'facts' && facts !== undefined
        ? { type: 'facts', facts }
        : { type: 'refused', code: 'TEST', message: `no answer to ${request.type}` }
  }
}
