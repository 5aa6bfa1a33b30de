import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { parseTestNames, type Selection, selectTests, testsByImage } from '../../conformance/select.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { formatCount, toPrintable } from '../../kit/text.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import {
  type CommandContext,
  type LeafCommand,
  type ExitCode,
  exitCodes,
  type Invocation,
} from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import { parseServerFlag } from '../command/run-flags.ts'
import { type ConformanceOptions, runConformance } from '../conformance/run.ts'
import { listSuite, prepareConformancePrograms } from '../conformance/suite-programs.ts'
import { formatConformanceReport } from '../conformance/text.ts'

const conformanceLabel = String.raw`\[Conformance\]`

const flags = z.object({
  list: z.boolean().default(false),
  focus: z.string().optional(),
  skip: z.string().optional(),
  only: z.string().optional(),
  withoutImage: z.array(z.string()).default([]),
  report: z.string().optional(),
  server: z.string().optional(),
  program: z.string().optional(),
  kubectl: z.string().optional(),
  parallel: z.number().default(1),
})
type Flags = z.infer<typeof flags>

export const conformanceCommand: LeafCommand = {
  examples: [
    ['hyperkube conformance', 'run all upstream conformance tests (about two hours)'],
    [
      'hyperkube conformance --parallel 4',
      'run four tests in parallel: faster, but not valid for certification',
    ],
    [
      'hyperkube conformance --focus sig-network',
      'run tests whose names match, including non-conformance tests',
    ],
    ['hyperkube conformance --list --focus "DNS.*Conformance"', 'list matching tests without running them'],
    ['hyperkube conformance --only tests.txt', 'run tests listed in a file, one name per line'],
    ['hyperkube conformance --without-image nginx', 'skip tests that need an unavailable image'],
  ],
  sharedFlags: ['file', 'key', 'output'],
  configure(command) {
    command
      .option('--list', 'list selected tests without running them')
      .option('--focus <pattern>', 'run tests whose names match this pattern (default: \\[Conformance\\])')
      .option('--skip <pattern>', 'skip tests whose names match this pattern')
      .option('--only <file>', 'run only tests listed in this file, one name per line')
      .option(
        '--without-image <name>',
        `skip tests that need this image (repeatable): ${formatKnownImages()}`,
        addImage,
      )
      .option(
        '--report <directory>',
        'write logs and results to this directory (default: ./conformance-CLUSTER-VERSION-DATE)',
      )
      .option(
        '--server <url>',
        'use this API server URL (default: balance across healthy control planes)',
        parseServerFlag,
      )
      .option(
        '--parallel <number>',
        'run this many tests in parallel, serial tests last (default: 1, required for certification)',
        parseParallelFlag,
      )
      .option('--program <path>', 'use this local e2e.test binary (default: download from upstream)')
      .option('--kubectl <path>', 'use this local kubectl binary for tests (default: download from upstream)')
  },
  async run(context, { options }) {
    const parsed = flags.parse(options)
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const only = parsed.only === undefined ? undefined : parseTestNames(await readNames(context, parsed.only))
    const programs = await prepareConformancePrograms(context, options, cluster, parsed)
    const suite = await listSuite(
      programs.suite,
      { focus: buildFocus(parsed), skip: parsed.skip },
      context.signal,
    )
    const selection = selectTests(suite, { ...(only && { only }), withoutImages: parsed.withoutImage })
    if (parsed.list) return listTests(context, options, selection)
    requireTests(selection)
    const { kubernetes } = (await openIdentity(context, options, cluster.metadata.name)).cas
    const { server, report: directory, parallel } = parsed
    const runOptions = {
      cluster,
      ca: kubernetes,
      suite,
      selection,
      programs,
      server,
      report: directory,
      parallel,
    }
    return runAndReport(context, options, runOptions)
  },
}

function parseParallelFlag(text: string): number {
  const parallel = Number(text)
  if (/^\d{1,2}$/.test(text) && parallel > 0) return parallel
  throw new InvalidArgumentError('expected a number from 1 to 99')
}

/** Returns the --focus pattern. Tests named with --only run even if they are not conformance tests. */
function buildFocus({ focus, only }: Flags): string {
  return focus ?? (only === undefined ? conformanceLabel : '.')
}

async function runAndReport(
  context: CommandContext,
  options: Invocation['options'],
  runOptions: ConformanceOptions,
): Promise<ExitCode> {
  const document = await runConformance(context, runOptions)
  printResult(context.stdout, options.output, document, () =>
    formatConformanceReport(document, context.paint),
  )
  context.signal.throwIfAborted()
  return document.outcome === 'passed' ? exitCodes.ok : exitCodes.failure
}

function listTests(
  context: CommandContext,
  options: Invocation['options'],
  { chosen, leftOut }: Selection,
): ExitCode {
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ConformanceTestList',
    tests: chosen,
    leftOut,
  }
  printResult(context.stdout, options.output, document, () =>
    chosen.map((name) => `${toPrintable(name)}\n`).join(''),
  )
  const omittedText = leftOut.length === 0 ? '' : `, ${leftOut.length} excluded`
  context.stderr.write(`${formatCount(chosen.length, 'test')}${omittedText}\n`)
  return exitCodes.ok
}

function requireTests({ chosen }: Selection): void {
  if (chosen.length > 0) return
  throw new HyperkubeError('CONFORMANCE_NO_TEST', 'no test is selected', {
    hint: 'check --focus, --skip and --only: hyperkube conformance --list',
  })
}

async function readNames({ readFile }: CommandContext, file: string): Promise<string> {
  return readFile(file).catch((cause: unknown) => {
    const isMissing = hasCode(cause, 'ENOENT')
    throw new HyperkubeError(
      'CONFORMANCE_NAMES_NOT_READ',
      `${file} ${isMissing ? 'does not exist' : 'cannot be read'}`,
      {
        hint: 'write one test name per line, as printed by: hyperkube conformance --list',
        ...(isMissing ? {} : { cause }),
      },
    )
  })
}

function formatKnownImages(): string {
  return Object.keys(testsByImage).join(', ')
}

function addImage(text: string, previous: readonly string[] = []): readonly string[] {
  if (!Object.hasOwn(testsByImage, text))
    throw new InvalidArgumentError(`expected one of ${formatKnownImages()}`)
  return [...previous, text]
}
