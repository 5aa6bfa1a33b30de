import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { listArguments } from '../../conformance/arguments.ts'
import { readSuite, type Suite } from '../../conformance/suite.ts'
import type { Target } from '../../catalog/artifact-target.ts'
import { run } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Context } from '../command.ts'
import { kubectlProgram, suiteProgram } from './programs.ts'

export interface Programs {
  readonly suite: string
  /** Only who runs tests needs it. */
  readonly kubectl: () => Promise<string>
}

/** Those that a person has named, else upstream's. */
export async function openPrograms(
  context: Context,
  { kubernetes, artifacts: source }: Cluster['spec'],
  { program, kubectl }: { readonly program?: string | undefined; readonly kubectl?: string | undefined },
): Promise<Programs> {
  const world = { ...context, say: (line: string) => void context.stderr.write(`${printable(line)}\n`) }
  const wish = () => ({ kubernetes, source, target: ownTarget() })
  return {
    suite: program === undefined ? await suiteProgram(wish(), world) : resolve(program),
    kubectl: async () => (kubectl === undefined ? kubectlProgram(wish(), world) : resolve(kubectl)),
  }
}

const architectures: Readonly<Record<string, Target['arch']>> = { x64: 'amd64', arm64: 'arm64' }

/** This machine, as upstream's sites call it. */
function ownTarget(): Target {
  const arch = architectures[process.arch]
  if (process.platform === 'linux' && arch !== undefined) return { os: 'linux', arch }
  throw new HyperkubeError(
    'CONFORMANCE_NO_PROGRAM',
    `upstream’s tests are fetched for Linux on amd64 and arm64, and this is ${process.platform} on ${process.arch}`,
    { hint: 'name programs that run here with --program and --kubectl' },
  )
}

/** Which tests there are, and which of them fit. */
export async function askSuite(
  program: string,
  wish: { readonly focus: string; readonly skip: string | undefined },
  signal: AbortSignal,
): Promise<Suite> {
  const directory = await mkdtemp(join(tmpdir(), 'hyperkube-conformance-'))
  const file = join(directory, 'suite.json')
  try {
    await run([program, ...listArguments(file, wish)], { cwd: directory, env: { HOME: directory }, signal })
    return readSuite(await readFile(file, 'utf8'))
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof HyperkubeError && cause.code === 'CONFORMANCE_NOT_LISTED') throw cause
    throw new HyperkubeError('CONFORMANCE_NOT_LISTED', `${program} does not say which tests it has`, {
      hint: `are --focus and --skip patterns as Go knows them? is it upstream’s e2e.test? try ${program} --version`,
      cause,
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** What the suite says that it is. */
export async function suiteVersion(program: string, signal: AbortSignal): Promise<string> {
  const { stdout } = await run([program, '--version'], { env: {}, signal })
  return printable(stdout.trim().split('\n')[0] ?? '')
}
