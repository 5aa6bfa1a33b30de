import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { Event } from '../../src/contract/event.ts'
import { describeMoment, isAt, type Moment } from './up-phases.ts'
import { inflict } from './inflict.ts'
import type { Interruption, InterruptionKind } from './interruption.ts'
import type { Operator } from './operator.ts'
import type { ToldEnd } from './event-command.ts'

/** A run of `up` to which something happened. */
export interface InterruptedUp {
  /** When it happened, in words. */
  readonly moment: string
  /** How it ended, in words. */
  readonly ended: string
  /** What should not have been so. */
  readonly wrong: readonly string[]
}

/** Longer than hosts are waited for. */
const limit = 420_000

/** Runs `up`, interrupts it at a moment, and waits for its end. */
export async function interruptedUp(
  operator: Operator,
  lab: Lab,
  interruption: Interruption,
  moment: Moment,
): Promise<InterruptedUp> {
  const isIt = isAt(moment)
  let inflicted: Promise<void> | undefined
  let words = ''
  const command = operator.beginUp((event) => {
    if (inflicted !== undefined || !isIt(event)) return
    words = describeMoment(moment, event)
    inflicted = inflict(interruption, lab, command)
    // It is waited for below, when the command has ended.
    inflicted.catch(() => undefined)
  })
  const late = new AbortController()
  const end = await Promise.race([
    command.ended,
    sleep(limit, undefined, { signal: late.signal }).then(
      () => undefined,
      () => undefined,
    ),
  ])
  late.abort()
  if (end === undefined) {
    command.kill('SIGKILL')
    return { moment: words, ended: 'never', wrong: [`it hangs: ${tail(await command.ended)}`] }
  }
  if (inflicted === undefined) {
    return { moment: '', ended: inWords(end), wrong: [`${moment.phase} ${moment.nth} was never told`] }
  }
  await inflicted
  return { moment: words, ended: inWords(end), wrong: misbehaviour(interruption.kind, end) }
}

/** What a run says of itself, when something happened to it, that it should not say. */
function misbehaviour(kind: InterruptionKind, end: ToldEnd): string[] {
  const { code } = end
  const failed = code !== 0 && (failureOf(end)?.hint ?? '') === ''
  switch (kind) {
    case 'cli-killed':
      return code === 137 ? [] : [`killed, it ended with ${code}: ${tail(end)}`]
    case 'cli-interrupted':
      return code === 130 && hasSaidSo(end) ? [] : [`interrupted, it ended with ${code}: ${tail(end)}`]
    case 'ssh-cut':
      return code === 0 ? [] : [`without its connection it ended with ${code}: ${tail(end)}`]
    default:
      return failed && code !== 3
        ? [`it ended with ${code} and says nothing of what to do: ${tail(end)}`]
        : []
  }
}

function hasSaidSo({ events }: ToldEnd): boolean {
  const stopping = events.some(({ what }) => what.type === 'stopping' && what.because === 'interrupted')
  const last = events.at(-1)?.what
  return stopping && last?.type === 'run-ended' && last.result.outcome === 'interrupted'
}

type Failed = Extract<Event['what'], { type: 'run-ended' }>['result'] & { readonly outcome: 'failed' }

function failureOf({ events }: ToldEnd): Failed['failure'] | undefined {
  const last = events.at(-1)?.what
  return last?.type === 'run-ended' && last.result.outcome === 'failed' ? last.result.failure : undefined
}

function inWords(end: ToldEnd): string {
  const names: Readonly<Record<number, string>> = {
    0: 'went on by itself',
    3: 'left a host behind',
    130: 'stopped, claim given back',
    137: 'killed',
  }
  return names[end.code] ?? `${end.code}, ${failureOf(end)?.code ?? 'without a word'}`
}

function tail({ events, said }: ToldEnd): string {
  return [...events.slice(-12).map((event) => JSON.stringify(event)), said].join('\n')
}
