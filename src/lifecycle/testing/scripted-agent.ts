import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import type { Event } from '../../contract/event.ts'
import type { Facts } from '../../contract/facts.ts'
import type { Op } from '../../contract/op.ts'
import { type AgentRequest, type AgentResponse, requestFormat } from '../../contract/request.ts'
import type { Stage } from '../../contract/stage.ts'
import { readVersioned } from '../../contract/versioned.ts'
import type { Conversation, Remote } from '../../ssh/remote.ts'
import { Session } from '../session.ts'
import type { What } from '../event-stream.ts'

/** What happens on a host when it is taken through a stage, up to and with the end of the run. */
export type Script = (host: string, through: Stage) => AsyncIterable<What>

export interface Scripted {
  readonly run: Script
  /** What the host says of itself, where it is asked. */
  readonly facts?: Facts
  /** What would be done on it. */
  readonly ops?: readonly Op[]
  /** What it answers instead of the usual. */
  readonly answer?: (ask: AgentRequest['ask']) => AgentResponse['answer'] | undefined
  /** Gets all that the host was asked. */
  readonly asked: { push(ask: AgentRequest['ask']): unknown }
  /** What else there is to do by the way to it. */
  readonly remote?: Partial<Remote>
}

/** Every run ends well, and there is nothing to tell of it. */
export const works: Script = async function* () {
  yield { type: 'run-ended', result: { outcome: 'done' } }
}

/** For tests: a host whose agent does nothing, and tells of it as a script says. */
export function scriptedSession(host: string, scripted: Scripted): Session {
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

function conversation(host: string, scripted: Scripted): Conversation {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const ended = Promise.withResolvers<{ code: number; stderr: string }>()
  const send = (message: AgentResponse | Event): void => void stdout.write(`${JSON.stringify(message)}\n`)
  const runs = new Map<string, Stage>()
  const talk = async (): Promise<void> => {
    for await (const line of createInterface({ input: stdin })) {
      const { ask } = readVersioned(requestFormat, JSON.parse(line))
      scripted.asked.push(ask)
      if (ask.type === 'apply') runs.set(ask.run, ask.through)
      if (ask.type !== 'attach') send(answerTo(ask, scripted))
      else await tellRun(ask.run, scripted.run(host, runs.get(ask.run) ?? 'prepare'), send)
    }
  }
  talk().catch((error: unknown) => ended.reject(error))
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

async function tellRun(
  run: string,
  script: AsyncIterable<What>,
  send: (event: Event) => void,
): Promise<void> {
  let sequence = 0
  for await (const what of script) {
    sequence++
    const time = '2001-01-01T00:00:00.000Z'
    send({ apiVersion: 'hyperkube.dev/v1', kind: 'Event', run, sequence, time, component: 'etcd', what })
  }
}

function answerTo(ask: AgentRequest['ask'], scripted: Scripted): AgentResponse {
  return { apiVersion: 'hyperkube.dev/v1', kind: 'AgentResponse', answer: answer(ask, scripted) }
}

function answer(ask: AgentRequest['ask'], scripted: Scripted): AgentResponse['answer'] {
  return scripted.answer?.(ask) ?? usualAnswer(ask, scripted)
}

function usualAnswer(ask: AgentRequest['ask'], { facts, ops = [] }: Scripted): AgentResponse['answer'] {
  switch (ask.type) {
    case 'apply':
    case 'stop-services':
    case 'place-etcd':
    case 'clear-etcd':
    case 'reset':
      return { type: 'running', run: ask.run }
    case 'certificates':
      return { type: 'certificates', certificates: [] }
    case 'certificate-requests':
      return { type: 'certificate-requests', requests: {} }
    case 'hello':
      return { type: 'hello', version: '0.1.0' }
    case 'claim':
      return { type: 'claimed', claim: ask.claim }
    case 'release':
      return { type: 'released' }
    case 'end-restore':
      return { type: 'restore-ended' }
    case 'begin-trial':
      return { type: 'trial', trial: { ...ask.trial, state: 'on-trial' } }
    case 'move-trial':
    case 'keep-trial':
      return { type: 'trial' }
    case 'diff':
      return { type: 'diff', ops: [...ops], findings: [] }
    case 'former-plan':
      return { type: 'former-plan' }
    case 'clock':
      return { type: 'clock', time: Date.now() }
    case 'listen':
      return { type: 'listening', tcp: ask.tcp, udp: ask.udp }
    case 'hush':
      return { type: 'hushed' }
    case 'probe':
      return { type: 'probed', results: ask.targets.map(() => ({ outcome: 'ok', milliseconds: 1 })) }
    default:
      return ask.type === 'facts' && facts !== undefined
        ? { type: 'facts', facts }
        : { type: 'refused', code: 'TEST', message: `no answer to ${ask.type}` }
  }
}
