import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { type Event, eventFormat } from '../../src/contract/event.ts'
import { readVersioned } from '../../src/contract/versioned.ts'
import type { Argv } from '../../src/kit/command.ts'

/** A command that tells on standard error what it does, event by event. */
export interface ToldCommand {
  readonly pid: number
  kill(signal: 'SIGKILL' | 'SIGINT'): void
  readonly ended: Promise<ToldEnd>
}

export interface ToldEnd {
  /** As a shell counts: 128 and more for a death by signal. */
  readonly code: number
  readonly events: readonly Event[]
  /** What it said beside events. */
  readonly said: string
}

export function toldCommand(
  [program, ...args]: Argv,
  env: Readonly<Record<string, string>>,
  heard: (event: Event) => void,
): ToldCommand {
  const child = spawn(program, args, { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const { pid } = child
  if (pid === undefined) throw new Error(`${program} could not be run`)
  const events: Event[] = []
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')))
  createInterface({ input: child.stderr }).on('line', (line) => {
    const event = eventIn(line)
    if (event === undefined) {
      said += `${line}\n`
      return
    }
    events.push(event)
    heard(event)
  })
  const ended = new Promise<number>((resolve) => {
    child.on('close', (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    )
  })
  return {
    pid,
    kill: (signal) => void child.kill(signal),
    ended: ended.then((code) => ({ code, events, said })),
  }
}

/** A line that a killed command did not finish is none. */
function eventIn(line: string): Event | undefined {
  try {
    return readVersioned(eventFormat, JSON.parse(line))
  } catch {
    return undefined
  }
}
