import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { testsOfImage } from '../../conformance/images.ts'
import { namesIn, select, type Selection } from '../../conformance/select.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import {
  type CommandDefinition,
  type Context,
  type ExitCode,
  exitCodes,
  type Invocation,
} from '../command.ts'
import { type ConformanceWish, runConformance } from '../conformance/run.ts'
import { askSuite, openPrograms } from '../conformance/suite-programs.ts'
import { conformanceText } from '../conformance/text.ts'
import { loadCluster } from '../load-cluster.ts'
import { openIdentity } from '../load-identity.ts'
import { findingsText, print } from '../print.ts'
import { serverFlag } from '../server-flag.ts'
import { count } from '../format-text.ts'

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

export const conformance: CommandDefinition = {
  examples: [
    ['hyperkube conformance', 'all of upstream’s conformance tests; that takes two hours'],
    ['hyperkube conformance --parallel 4', 'four side by side: sooner, but not what certifications ask for'],
    ['hyperkube conformance --focus sig-network', 'those of one kind, conformance or not'],
    ['hyperkube conformance --list --focus "DNS.*Conformance"', 'say which would run'],
    ['hyperkube conformance --only tests.txt', 'those that are named in a file, one in a line'],
    ['hyperkube conformance --without-image nginx', 'without those that need an image nobody has here'],
  ],
  identity: true,
  configure(command) {
    command
      .option('--list', 'print the names of the tests that would run, and run none')
      .option('--focus <pattern>', 'tests whose names fit (default: \\[Conformance\\])')
      .option('--skip <pattern>', 'without those whose names fit')
      .option('--only <file>', 'exactly the tests that are named in a file')
      .option('--without-image <name>', `without those that need it: ${known()}`, addImage)
      .option(
        '--report <directory>',
        'where log and results go (default: ./conformance-CLUSTER-VERSION-DATE)',
      )
      .option(
        '--server <url>',
        'where the API is reached, instead of whichever control planes are well',
        serverFlag,
      )
      .option(
        '--parallel <number>',
        'run so many side by side, and those last that must run alone (default: 1, as certifications ask for)',
        parallelFlag,
      )
      .option('--program <path>', 'an e2e.test that is here, instead of upstream’s')
      .option('--kubectl <path>', 'the kubectl that tests use, instead of upstream’s')
  },
  async run(context, { options }) {
    const own = flags.parse(options)
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(findingsText(findings))
    if (cluster === undefined) return exitCodes.failure
    const only = own.only === undefined ? undefined : namesIn(await readNames(context, own.only))
    const programs = await openPrograms(context, cluster.spec, own)
    const suite = await askSuite(programs.suite, { focus: focusOf(own), skip: own.skip }, context.signal)
    const selection = select(suite, { ...(only && { only }), withoutImages: own.withoutImage })
    if (own.list) return list(context, options, selection)
    refuseNothing(selection)
    const { kubernetes } = (await openIdentity(context, options, cluster.metadata.name)).authorities
    const { server, report: directory, parallel } = own
    const wish = { cluster, kubernetes, suite, selection, programs, server, report: directory, parallel }
    return report(context, options, wish)
  },
}

function parallelFlag(text: string): number {
  const parallel = Number(text)
  if (/^\d{1,2}$/.test(text) && parallel > 0) return parallel
  throw new InvalidArgumentError('it is a number from 1 to 99')
}

/** Whoever names tests means those, whatever they are. */
function focusOf({ focus, only }: Flags): string {
  return focus ?? (only === undefined ? conformanceLabel : '.')
}

async function report(
  context: Context,
  options: Invocation['options'],
  wish: ConformanceWish,
): Promise<ExitCode> {
  const document = await runConformance(context, wish)
  print(context.stdout, options.output, document, () => conformanceText(document, context.paint))
  context.signal.throwIfAborted()
  return document.outcome === 'passed' ? exitCodes.ok : exitCodes.failure
}

function list(context: Context, options: Invocation['options'], { chosen, leftOut }: Selection): ExitCode {
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ConformanceTestList',
    tests: chosen,
    leftOut,
  }
  print(context.stdout, options.output, document, () => chosen.map((name) => `${printable(name)}\n`).join(''))
  const without = leftOut.length === 0 ? '' : `, ${leftOut.length} left out`
  context.stderr.write(`${count(chosen.length, 'test')}${without}\n`)
  return exitCodes.ok
}

function refuseNothing({ chosen }: Selection): void {
  if (chosen.length > 0) return
  throw new HyperkubeError('CONFORMANCE_NO_TEST', 'no test would run', {
    hint: 'hyperkube conformance --list shows what --focus, --skip and --only leave',
  })
}

async function readNames({ readFile }: Context, file: string): Promise<string> {
  return readFile(file).catch((cause: unknown) => {
    const missing = hasCode(cause, 'ENOENT')
    throw new HyperkubeError(
      'CONFORMANCE_NAMES_NOT_READ',
      `${file} ${missing ? 'does not exist' : 'could not be read'}`,
      {
        hint: 'it has the name of a test in each line, as hyperkube conformance --list prints them',
        ...(missing ? {} : { cause }),
      },
    )
  })
}

function known(): string {
  return Object.keys(testsOfImage).join(', ')
}

function addImage(text: string, before: readonly string[] = []): readonly string[] {
  if (!Object.hasOwn(testsOfImage, text)) throw new InvalidArgumentError(`known are ${known()}`)
  return [...before, text]
}
