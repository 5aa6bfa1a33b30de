import { copyFile, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { cacheDirectory } from '../../../lab/cache.ts'
import { buildComponents } from '../../../lab/components/build.ts'
import { selectParts } from '../../../lab/components/parts.ts'
import type { Machine } from '../../../lab/hosts/machine.ts'
import { silentReport } from '../../../lab/report.ts'
import { runProgram } from '../../../src/kit/command.ts'

/** Folder with the configuration of kube-bench that hyperkube ships. */
export const shippedConfiguration = join(import.meta.dirname, '../../../examples/cis')

const checkSchema = z.object({
  test_number: z.string(),
  test_desc: z.string(),
  status: z.enum(['PASS', 'FAIL', 'WARN', 'INFO']),
  type: z.string(),
  reason: z.string().optional(),
  actual_value: z.string(),
})
const reportSchema = z.object({
  Controls: z.array(
    z.object({
      version: z.string(),
      node_type: z.string(),
      tests: z.array(z.object({ results: z.array(checkSchema) })),
    }),
  ),
})

/** Result of one check of kube-bench on one host. */
export interface CheckResult {
  readonly target: string
  readonly id: string
  readonly text: string
  readonly status: z.infer<typeof checkSchema>['status']
  /** True if the benchmark has no automatic test for the check, so that kube-bench always warns. */
  readonly manual: boolean
  /** True if the check is one that hyperkube ships instead of upstream's. */
  readonly adapted: boolean
  /** Value that the check read on the host. */
  readonly actual: string
}

/** Directory with kube-bench, the checks of upstream, and the shipped configuration. */
export interface BenchKit extends AsyncDisposable {
  readonly directory: string
  readonly version: string
}

export async function openBenchKit(): Promise<BenchKit> {
  const [built] = await buildComponents(selectParts(['kube-bench']), {
    cache: cacheDirectory(),
    report: silentReport,
  })
  if (built === undefined) throw new Error('there is no kube-bench')
  const directory = await mkdtemp(join(tmpdir(), 'cis-'))
  const checks = join(directory, 'cfg/cis-1.12')
  await mkdir(checks, { recursive: true })
  await copyFile(join(built.directory, 'kube-bench'), join(directory, 'kube-bench'))
  for (const name of ['master', 'etcd', 'controlplane', 'node', 'policies'])
    await copyFile(join(built.directory, `${name}.yaml`), join(checks, `${name}.yaml`))
  await cp(shippedConfiguration, join(directory, 'hyperkube'), { recursive: true })
  return {
    directory,
    version: built.part.version,
    [Symbol.asyncDispose]: async () => rm(directory, { recursive: true }),
  }
}

const hostDirectory = '/root/cis'

export async function installBench(host: Machine, { directory }: BenchKit): Promise<void> {
  const packed = `${directory}.tar`
  try {
    await runProgram(['tar', '--owner=0', '--group=0', '-C', directory, '-cf', packed, '.'])
    await host.exec(['mkdir', '-p', hostDirectory])
    await host.exec(['tar', '-x', '-C', hostDirectory], { input: await readFile(packed) })
  } finally {
    await rm(packed, { force: true })
  }
}

/**
 * Runs the shipped script: first upstream's checks without those that hyperkube adapts, then the adapted
 * checks.
 */
export async function runShippedChecks(host: Machine, targets: string): Promise<CheckResult[]> {
  return parseReports((await host.exec(['sh', '-c', formatScript(hostDirectory, targets)])).stdout)
}

/** Runs all checks of upstream unchanged, only with the paths of hyperkube. */
export async function runUpstreamChecks(host: Machine, targets: string): Promise<CheckResult[]> {
  return parseReports((await host.exec(['sh', '-c', formatUpstream(hostDirectory, targets)])).stdout)
}

/** Runs the target policies on the machine of the operator, which has the kubeconfig. */
export async function runPolicyChecks(
  { directory }: BenchKit,
  access: { readonly kubeconfig: string; readonly kubectl: string },
): Promise<{ shipped: CheckResult[]; upstream: CheckResult[] }> {
  const env = {
    ...process.env,
    KUBECONFIG: access.kubeconfig,
    PATH: `${access.kubectl}:${process.env['PATH'] ?? ''}`,
  }
  const run = async (command: string): Promise<CheckResult[]> =>
    parseReports((await runProgram(['sh', '-c', command], { env })).stdout)
  return {
    shipped: await run(formatScript(directory, 'policies')),
    upstream: await run(formatUpstream(directory, 'policies')),
  }
}

function formatScript(directory: string, targets: string): string {
  return `KUBE_BENCH=${directory}/kube-bench sh ${directory}/hyperkube/run.sh ${directory}/cfg ${targets} --json`
}

function formatUpstream(directory: string, targets: string): string {
  return [
    `${directory}/kube-bench run --config ${directory}/hyperkube/config.yaml --config-dir ${directory}/cfg`,
    `--benchmark cis-1.12 --targets ${targets} --json`,
  ].join(' ')
}

/** Parses the output of kube-bench: one JSON document per line. Skipped checks are left out. */
export function parseReports(output: string): CheckResult[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .flatMap((line) => reportSchema.parse(JSON.parse(line)).Controls)
    .flatMap(({ version, node_type: target, tests }) =>
      tests
        .flatMap(({ results }) => results)
        .filter(({ status }) => status !== 'INFO')
        .map((check) => ({
          target,
          id: check.test_number,
          text: check.test_desc,
          status: check.status,
          manual: check.type === 'manual',
          adapted: version !== 'cis-1.12',
          actual: check.actual_value,
        })),
    )
}
