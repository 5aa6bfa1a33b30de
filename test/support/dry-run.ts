import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Machine } from '../../lab/hosts/machine.ts'
import { type Event, eventFormat } from '../../src/contract/event.ts'
import { readVersioned } from '../../src/contract/versioned.ts'
import type { CommandResult } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { type PlanDocument, planFormat } from '../../src/lifecycle/plan-document.ts'
import { inWords, journalSoFar, opsDone } from './journal.ts'
import type { Operator } from './operator.ts'

type Person = Pick<Operator, 'hyperkube' | 'directory'>

/** What a command would do, and whether it was that. */
export interface Foresight {
  /** What the dry run said to people. */
  readonly stderr: string
  /**
   * Fails unless the journals of the hosts say that just this was done, op for op, and the run took its steps in the order
   * that was shown. Of a command that goes on by itself after what was shown, that is only the beginning.
   */
  kept(options?: { readonly goesOn?: boolean }): Promise<void>
}

/** Asks a command what it would do, and notes what has been done so far. */
export async function foresee(
  person: Person,
  hosts: readonly Machine[],
  words: readonly string[],
): Promise<Foresight> {
  const { code, stdout, stderr } = await person.hyperkube(...words, '--dry-run', '-o', 'json')
  expect([0, 3], stderr).toContain(code)
  const { ops, steps } = planIn(stdout)
  const runs = new Map(await settleAll(hosts.map(async (host) => [host.name, await runsOn(host)] as const)))
  const logs = new Set(await logsOf(person))
  return {
    stderr,
    async kept({ goesOn = false } = {}) {
      const events = await eventsIn(person, logs)
      for (const host of hosts) {
        const planned = (ops[host.name] ?? []).map(inWords)
        const done = await doneOn(host, runs.get(host.name) ?? new Set())
        // Where a host is reset its journal goes too, and what it told meanwhile is left. A control plane stops some things twice.
        if (done === undefined) {
          expect([...new Set(toldBy(host, events))].toSorted(), host.name).toEqual(planned.toSorted())
        } else {
          const own = goesOn ? done.slice(0, planned.length) : done
          expect(own.toSorted(), host.name).toEqual(planned.toSorted())
        }
      }
      const ids = steps.map(({ id }) => id)
      const begun = begunIn(events).filter((id) => ids.includes(id))
      expect(goesOn ? begun.slice(0, ids.length) : begun).toEqual(ids)
    },
  }
}

/** Does what was shown, and holds the journals of the hosts against it. */
export async function asForeseen(
  person: Person,
  hosts: readonly Machine[],
  words: readonly string[],
  { code = 0, ...options }: { readonly code?: number; readonly goesOn?: boolean } = {},
): Promise<CommandResult & { readonly shown: string }> {
  const foresight = await foresee(person, hosts, words)
  const began = performance.now()
  const result = await person.hyperkube(...words, '--yes')
  process.stderr.write(`${words.join(' ')}: ${((performance.now() - began) / 1000).toFixed(1)} s\n`)
  expect(result.code, result.stderr).toBe(code)
  await foresight.kept(options)
  return { ...result, shown: foresight.stderr }
}

/** A command that touches no host tells of something else than a plan. */
function planIn(stdout: string): Pick<PlanDocument, 'ops' | 'steps'> {
  const document: { readonly kind?: unknown } = JSON.parse(stdout)
  return document.kind === 'Plan' ? readVersioned(planFormat, document) : { ops: {}, steps: [] }
}

async function runsOn(host: Machine): Promise<ReadonlySet<string>> {
  const entries = (await host.isRunning()) ? await journalSoFar(host) : []
  return new Set(entries?.map(({ run }) => run))
}

/** In the order in which it was done; undefined where there is no journal any more. */
async function doneOn(host: Machine, before: ReadonlySet<string>): Promise<string[] | undefined> {
  if (!(await host.isRunning())) return []
  const entries = await journalSoFar(host)
  return entries && opsDone(entries.filter(({ run }) => !before.has(run)))
}

function toldBy({ name }: Machine, events: readonly Event[]): string[] {
  return events.flatMap(({ host, what }) =>
    host === name && what.type === 'op-ended' ? [inWords(what.op)] : [],
  )
}

function begunIn(events: readonly Event[]): string[] {
  return events.flatMap(({ host, what }) =>
    host === undefined && what.type === 'step-started' ? [what.step] : [],
  )
}

/** What a person's commands have told, a file for each, from the oldest on. */
async function logsOf({ directory }: Person): Promise<string[]> {
  const logs = join(directory, 'hyperkube', 'runs', 'lab')
  return (await readdir(logs)).toSorted().map((name) => join(logs, name))
}

async function eventsIn(person: Person, before: ReadonlySet<string>): Promise<Event[]> {
  const files = (await logsOf(person)).filter((file) => !before.has(file))
  const texts = await Promise.all(files.map(async (file) => readFile(file, 'utf8')))
  return texts.flatMap((text) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => readVersioned(eventFormat, JSON.parse(line))),
  )
}
