import { mkdir, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import packageFile from '../../../package.json' with { type: 'json' }
import { runArguments } from '../../conformance/arguments.ts'
import { after, beginning, type Course } from '../../conformance/progress.ts'
import { type ConformanceReport, reportOf } from '../../conformance/report.ts'
import { roundsOf } from '../../conformance/batches.ts'
import type { Selection } from '../../conformance/select.ts'
import type { Suite } from '../../conformance/suite.ts'
import { type SuiteEvent, SuiteTale } from '../../conformance/ginkgo-output.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { settleAll } from '../../kit/settle-all.ts'
import type { Authority } from '../../pki/ca.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Context } from '../command.ts'
import { count } from '../format-text.ts'
import { openAccess } from './access.ts'
import { openConformanceProgress } from './progress.ts'
import { type Programs, suiteVersion } from './suite-programs.ts'
import { runSuite } from './suite-process.ts'

export interface ConformanceWish {
  readonly cluster: Cluster
  readonly kubernetes: Authority
  readonly suite: Suite
  readonly selection: Selection
  readonly programs: Programs
  readonly server: string | undefined
  readonly report: string | undefined
  /** How many tests run side by side. */
  readonly parallel: number
}

/** Tests run programs of the system; the one that matters is named. */
const programPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Runs the suite, and answers with what came of it, also when it was interrupted. All of it is kept in a directory. */
export async function runConformance(context: Context, wish: ConformanceWish): Promise<ConformanceReport> {
  const { cluster, suite, selection, programs } = wish
  const { chosen, leftOut } = selection
  const { now, signal } = context
  const [version, kubectl] = [await suiteVersion(programs.suite, signal), await programs.kubectl()]
  const directory = await reportDirectory(context, wish)
  const rounds = roundsOf(chosen, wish.parallel)
  const processes = rounds.flat().length
  // One process leaves what a certification asks for; several leave it in a directory each.
  const files = {
    log: processes === 1 ? join(directory, 'e2e.log') : directory,
    junit: processes === 1 ? join(directory, 'junit_01.xml') : directory,
    report: join(directory, 'report.json'),
  }
  const progress = openConformanceProgress(context)
  let course: Course = beginning(chosen, now(), processes)
  try {
    await using access = await openAccess(context, { ...wish, say: progress.say })
    const take = (events: readonly SuiteEvent[]): void => {
      for (const event of events) {
        course = after(course, event, now())
        progress.heard(event, course)
      }
    }
    progress.say(`${count(chosen.length, 'test')} to run; all of it is in ${files.log}`)
    const once = sayOnce(progress.say)
    const run = async (names: readonly string[], number: number): Promise<number> => {
      const tale = new SuiteTale(names)
      const into = processes === 1 ? directory : join(directory, String(number))
      const scratch = processes === 1 ? access.directory : join(access.directory, String(number))
      await mkdir(into, { recursive: true, mode: 0o700 })
      await mkdir(scratch, { recursive: true, mode: 0o700 })
      const places = {
        kubeconfig: access.kubeconfig,
        kubectl,
        report: into,
        scratch,
        domain: cluster.spec.network.domain,
      }
      const code = await runSuite({
        argv: [programs.suite, ...runArguments(places, suite.description, names)],
        directory: scratch,
        env: { HOME: scratch, TMPDIR: scratch, PATH: programPath },
        log: join(into, 'e2e.log'),
        line: (line) => take(tale.heard(line)),
        signal,
        stopping: () => once('stopping: e2e.test removes what it has made, for a minute and a half at most'),
      })
      take(tale.over())
      return code
    }
    const code = await inRounds(rounds, run, signal)
    const about = { cluster: cluster.metadata.name, files, hyperkube: packageFile.version, suite: version }
    const ended = { course, leftOut, code, ended: now(), isInterrupted: signal.aborted }
    const report = reportOf(ended, about)
    await context.createFile(files.report, `${JSON.stringify(report, undefined, 2)}\n`, 0o644)
    return report
  } finally {
    progress.close()
  }
}

/** The worst of their codes. What was not begun when it shall stop is not begun. */
async function inRounds(
  rounds: readonly (readonly (readonly string[])[])[],
  run: (names: readonly string[], number: number) => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  let [number, worst] = [0, 0]
  for (const round of rounds) {
    if (signal.aborted) break
    const codes = await settleAll(round.map(async (names) => run(names, ++number)))
    worst = Math.max(worst, ...codes)
  }
  return worst
}

/** The same line is not said by every process. */
function sayOnce(say: (line: string) => void): (line: string) => void {
  const said = new Set<string>()
  return (line) => {
    if (!said.has(line)) say(line)
    said.add(line)
  }
}

/** A directory in which nothing is yet: results of two runs side by side would be taken for those of one. */
async function reportDirectory(
  { now, makePrivateDirectory }: Context,
  wish: ConformanceWish,
): Promise<string> {
  const { metadata, spec } = wish.cluster
  const date = now().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
  const directory = resolve(wish.report ?? `conformance-${metadata.name}-${spec.kubernetes}-${date}`)
  await makePrivateDirectory(directory)
  const [any] = await readdir(directory)
  if (any === undefined) return directory
  throw new HyperkubeError('CONFORMANCE_REPORT_EXISTS', `there is something in ${directory} already`, {
    hint: '--report names another directory',
  })
}
