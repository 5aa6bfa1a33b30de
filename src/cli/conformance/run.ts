import { mkdir, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import packageFile from '../../../package.json' with { type: 'json' }
import { buildRunArguments } from '../../conformance/arguments.ts'
import { GinkgoOutputParser, type SuiteEvent } from '../../conformance/ginkgo-output.ts'
import { advanceSuiteProgress, startSuiteProgress, type SuiteProgress } from '../../conformance/progress.ts'
import { buildConformanceReport, type ConformanceReport } from '../../conformance/report.ts'
import { planBatches, type Selection } from '../../conformance/select.ts'
import type { Suite } from '../../conformance/suite.ts'
import { settleAll } from '../../kit/concurrency.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { formatCount } from '../../kit/text.ts'
import type { Ca } from '../../pki/ca.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { CommandContext } from '../command/command.ts'
import { openSuiteAccess } from './access.ts'
import { openConformanceProgress } from './progress.ts'
import { runSuiteProcess } from './suite-process.ts'
import { type ConformancePrograms, readSuiteVersion } from './suite-programs.ts'

export interface ConformanceOptions {
  readonly cluster: Cluster
  readonly ca: Ca
  readonly suite: Suite
  readonly selection: Selection
  readonly programs: ConformancePrograms
  readonly server: string | undefined
  readonly report: string | undefined
  /** Number of tests that run in parallel. */
  readonly parallel: number
}

/**
 * PATH of the suite, because tests run programs of the system. The suite gets the path of kubectl as an
 * argument.
 */
const programPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Runs the suite and returns its report, even after an interrupt. Keeps all output in a directory. */
export async function runConformance(
  context: CommandContext,
  options: ConformanceOptions,
): Promise<ConformanceReport> {
  const { cluster, suite, selection, programs } = options
  const { chosen, leftOut } = selection
  const { now, signal } = context
  const [version, kubectl] = [await readSuiteVersion(programs.suite, signal), await programs.kubectl()]
  const directory = await prepareReportDirectory(context, options)
  const batches = planBatches(chosen, options.parallel)
  const processes = batches.flat().length
  // A single process writes the files that a certification needs. Several processes each write their own
  // files into the directory.
  const files = {
    log: processes === 1 ? join(directory, 'e2e.log') : directory,
    junit: processes === 1 ? join(directory, 'junit_01.xml') : directory,
    report: join(directory, 'report.json'),
  }
  const progress = openConformanceProgress(context)
  let suiteProgress: SuiteProgress = startSuiteProgress(chosen, now(), processes)
  try {
    await using access = await openSuiteAccess(context, { ...options, writeLine: progress.writeLine })
    const handleEvents = (events: readonly SuiteEvent[]): void => {
      for (const event of events) {
        suiteProgress = advanceSuiteProgress(suiteProgress, event, now())
        progress.onEvent(event, suiteProgress)
      }
    }
    progress.writeLine(`running ${formatCount(chosen.length, 'test')}; full log: ${files.log}`)
    const writeOnce = createOnceWriter(progress.writeLine)
    const run = async (names: readonly string[], number: number): Promise<number> => {
      const parser = new GinkgoOutputParser(names)
      const processDirectory = processes === 1 ? directory : join(directory, String(number))
      const scratch = processes === 1 ? access.directory : join(access.directory, String(number))
      await mkdir(processDirectory, { recursive: true, mode: 0o700 })
      await mkdir(scratch, { recursive: true, mode: 0o700 })
      const paths = {
        kubeconfig: access.kubeconfig,
        kubectl,
        report: processDirectory,
        scratch,
        domain: cluster.spec.network.domain,
      }
      const code = await runSuiteProcess({
        argv: [programs.suite, ...buildRunArguments(paths, suite.description, names)],
        directory: scratch,
        env: { HOME: scratch, TMPDIR: scratch, PATH: programPath },
        log: join(processDirectory, 'e2e.log'),
        onLine: (line) => handleEvents(parser.readLine(line)),
        signal,
        onStopping: () => writeOnce('stopping: e2e.test deletes its objects, which takes at most 90 seconds'),
      })
      handleEvents(parser.finish())
      return code
    }
    const code = await runBatches(batches, run, signal)
    const reportMetadata = {
      cluster: cluster.metadata.name,
      files,
      hyperkube: packageFile.version,
      suite: version,
    }
    const endedRun = { suiteProgress, leftOut, code, ended: now(), isInterrupted: signal.aborted }
    const report = buildConformanceReport(endedRun, reportMetadata)
    await context.createFile(files.report, `${JSON.stringify(report, undefined, 2)}\n`, 0o644)
    return report
  } finally {
    progress.close()
  }
}

/**
 * Runs batches one after the other and returns the highest exit code. After an abort, remaining batches are
 * skipped.
 */
async function runBatches(
  batches: readonly (readonly (readonly string[])[])[],
  run: (names: readonly string[], number: number) => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  let [number, worstCode] = [0, 0]
  for (const batch of batches) {
    if (signal.aborted) break
    const codes = await settleAll(batch.map(async (names) => run(names, ++number)))
    worstCode = Math.max(worstCode, ...codes)
  }
  return worstCode
}

/** Creates a writer that drops repeated lines, because several processes report the same line. */
function createOnceWriter(writeLine: (line: string) => void): (line: string) => void {
  const writtenLines = new Set<string>()
  return (line) => {
    if (!writtenLines.has(line)) writeLine(line)
    writtenLines.add(line)
  }
}

/**
 * Creates the report directory. It must be empty: results of two runs in one directory would be taken for one
 * run.
 */
async function prepareReportDirectory(
  { now, makePrivateDirectory }: CommandContext,
  options: ConformanceOptions,
): Promise<string> {
  const { metadata, spec } = options.cluster
  const date = now().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
  const directory = resolve(options.report ?? `conformance-${metadata.name}-${spec.kubernetes}-${date}`)
  await makePrivateDirectory(directory)
  const [firstEntry] = await readdir(directory)
  if (firstEntry === undefined) return directory
  throw new HyperkubeError('CONFORMANCE_REPORT_EXISTS', `the report directory ${directory} is not empty`, {
    hint: 'use an empty directory: --report DIRECTORY',
  })
}
