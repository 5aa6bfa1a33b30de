import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { ArtifactTarget } from '../../catalog/artifacts.ts'
import { buildListArguments } from '../../conformance/arguments.ts'
import { readSuite, type Suite } from '../../conformance/suite.ts'
import { runProgram } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { openClusterWeb } from '../../workspace/cluster-web.ts'
import type { ClusterFiles } from '../../workspace/context.ts'
import type { CommandContext } from '../command/command.ts'
import { prepareKubectl, prepareSuiteProgram } from './programs.ts'

export interface ConformancePrograms {
  readonly suite: string
  /** Returns the path of kubectl, which is needed only to run tests. */
  readonly kubectl: () => Promise<string>
}

/** Uses the programs named on the command line, otherwise the programs that Kubernetes publishes. */
export async function prepareConformancePrograms(
  context: CommandContext,
  files: ClusterFiles,
  cluster: Cluster,
  { program, kubectl }: { readonly program?: string | undefined; readonly kubectl?: string | undefined },
): Promise<ConformancePrograms> {
  const { kubernetes, artifacts: source } = cluster.spec
  const deps = {
    ...context,
    openWeb: async () => openClusterWeb(context, files, cluster),
    writeLine: (line: string) => void context.stderr.write(`${toPrintable(line)}\n`),
  }
  const options = () => ({ kubernetes, source, target: detectTarget() })
  return {
    suite: program === undefined ? await prepareSuiteProgram(options(), deps) : resolve(program),
    kubectl: async () => (kubectl === undefined ? prepareKubectl(options(), deps) : resolve(kubectl)),
  }
}

const architectures: Readonly<Record<string, ArtifactTarget['arch']>> = { x64: 'amd64', arm64: 'arm64' }

/** Returns OS and architecture of this machine, with the names that Kubernetes uses for its downloads. */
function detectTarget(): ArtifactTarget {
  const arch = architectures[process.arch]
  if (process.platform === 'linux' && arch !== undefined) return { os: 'linux', arch }
  throw new HyperkubeError(
    'CONFORMANCE_NO_PROGRAM',
    `hyperkube downloads the upstream tests only for Linux on amd64 and arm64; this machine is ${process.platform} on ${process.arch}`,
    { hint: 'use local binaries: --program PATH --kubectl PATH' },
  )
}

/** Lists all tests of the suite, and which of them match the options. */
export async function listSuite(
  program: string,
  options: { readonly focus: string; readonly skip: string | undefined },
  signal: AbortSignal,
): Promise<Suite> {
  const directory = await mkdtemp(join(tmpdir(), 'hyperkube-conformance-'))
  const file = join(directory, 'suite.json')
  try {
    await runProgram([program, ...buildListArguments(file, options)], {
      cwd: directory,
      env: { HOME: directory },
      signal,
    })
    return readSuite(await readFile(file, 'utf8'))
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof HyperkubeError && cause.code === 'CONFORMANCE_NOT_LISTED') throw cause
    throw new HyperkubeError('CONFORMANCE_NOT_LISTED', `${program} did not list its tests`, {
      hint: `check that --focus and --skip are Go regular expressions, and that the binary is upstream’s e2e.test: ${program} --version`,
      cause,
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Reads the version that the suite reports. */
export async function readSuiteVersion(program: string, signal: AbortSignal): Promise<string> {
  const { stdout } = await runProgram([program, '--version'], { env: {}, signal })
  return toPrintable(stdout.trim().split('\n')[0] ?? '')
}
