import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Machine } from '../../lab/hosts/machine.ts'
import { type Event, eventFormat } from '../../src/contract/event.ts'
import { readVersioned } from '../../src/contract/versioned.ts'
import type { CommandResult } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { type PlanDocument, planFormat } from '../../src/lifecycle/proposal/plan-approval.ts'
import { formatOp, listDoneOps, readJournalIfAny } from './journal.ts'
import type { Operator } from './operator.ts'

type CommandRunner = Pick<Operator, 'hyperkube' | 'directory'>

/** A dry run whose plan can be compared with the later run of the command. */
export interface DryRun {
  /** What the dry run printed to standard error. */
  readonly stderr: string
  /**
   * Fails unless the hosts did exactly the planned ops and the run took the planned steps in order. With
   * `allowMore`, more ops and steps may follow.
   */
  expectDone(options?: { readonly allowMore?: boolean }): Promise<void>
}

/** Runs a command with --dry-run and records which runs the journals already contain. */
export async function recordDryRun(
  runner: CommandRunner,
  hosts: readonly Machine[],
  args: readonly string[],
): Promise<DryRun> {
  const { code, stdout, stderr } = await runner.hyperkube(...args, '--dry-run', '-o', 'json')
  expect([0, 3], stderr).toContain(code)
  const { ops, steps } = parsePlan(stdout)
  const runs = new Map(await settleAll(hosts.map(async (host) => [host.name, await listRuns(host)] as const)))
  const logs = new Set(await listRunLogs(runner))
  return {
    stderr,
    async expectDone({ allowMore = false } = {}) {
      const events = await readEvents(runner, logs)
      for (const host of hosts) {
        const planned = (ops[host.name] ?? []).map(formatOp)
        const done = await listOpsSince(host, runs.get(host.name) ?? new Set())
        // A reset deletes the journal, so the events that the command reported are compared instead.
        // Duplicates are removed, because a control plane stops some services twice.
        if (done === undefined) {
          expect([...new Set(listReportedOps(host, events))].toSorted(), host.name).toEqual(
            planned.toSorted(),
          )
        } else {
          const compared = allowMore ? done.slice(0, planned.length) : done
          expect(compared.toSorted(), host.name).toEqual(planned.toSorted())
        }
      }
      const ids = steps.map(({ id }) => id)
      const started = listStartedSteps(events).filter((id) => ids.includes(id))
      expect(allowMore ? started.slice(0, ids.length) : started).toEqual(ids)
    },
  }
}

/** Runs a command after a dry run, and compares the journals of the hosts with the plan. */
export async function runAsPlanned(
  runner: CommandRunner,
  hosts: readonly Machine[],
  args: readonly string[],
  { code = 0, ...options }: { readonly code?: number; readonly allowMore?: boolean } = {},
): Promise<CommandResult & { readonly shown: string }> {
  const dryRun = await recordDryRun(runner, hosts, args)
  const began = performance.now()
  const result = await runner.hyperkube(...args, '--yes')
  process.stderr.write(`${args.join(' ')}: ${((performance.now() - began) / 1000).toFixed(1)} s\n`)
  expect(result.code, result.stderr).toBe(code)
  await dryRun.expectDone(options)
  return { ...result, shown: dryRun.stderr }
}

/**
 * Parses the output of a dry run. A command that changes no host prints another document, so its plan is
 * empty.
 */
function parsePlan(stdout: string): Pick<PlanDocument, 'ops' | 'steps'> {
  const document: { readonly kind?: unknown } = JSON.parse(stdout)
  return document.kind === 'Plan' ? readVersioned(planFormat, document) : { ops: {}, steps: [] }
}

async function listRuns(host: Machine): Promise<ReadonlySet<string>> {
  const entries = (await host.isRunning()) ? await readJournalIfAny(host) : []
  return new Set(entries?.map(({ run }) => run))
}

/** Lists the completed ops of all runs that are not in `before`; undefined if the journal was deleted. */
async function listOpsSince(host: Machine, before: ReadonlySet<string>): Promise<string[] | undefined> {
  if (!(await host.isRunning())) return []
  const entries = await readJournalIfAny(host)
  return entries && listDoneOps(entries.filter(({ run }) => !before.has(run)))
}

function listReportedOps({ name }: Machine, events: readonly Event[]): string[] {
  return events.flatMap(({ host, body }) =>
    host === name && body.type === 'op-ended' ? [formatOp(body.op)] : [],
  )
}

function listStartedSteps(events: readonly Event[]): string[] {
  return events.flatMap(({ host, body }) =>
    host === undefined && body.type === 'step-started' ? [body.step] : [],
  )
}

/** Lists the log files of all commands of the operator, oldest first. */
async function listRunLogs({ directory }: CommandRunner): Promise<string[]> {
  const logs = join(directory, 'hyperkube', 'runs', 'lab')
  return (await readdir(logs)).toSorted().map((name) => join(logs, name))
}

async function readEvents(runner: CommandRunner, before: ReadonlySet<string>): Promise<Event[]> {
  const files = (await listRunLogs(runner)).filter((file) => !before.has(file))
  const texts = await Promise.all(files.map(async (file) => readFile(file, 'utf8')))
  return texts.flatMap((text) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => readVersioned(eventFormat, JSON.parse(line))),
  )
}
