import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { selectParts } from '../../lab/components/parts.ts'
import { silentReport } from '../../lab/report.ts'
import { runProgram } from '../../src/kit/command.ts'
import type { UpCluster } from './up-cluster.ts'

const reportSchema = z.tuple([
  z.object({
    SpecReports: z.array(
      z.object({
        ContainerHierarchyTexts: z.array(z.string()).nullish(),
        LeafNodeType: z.string(),
        LeafNodeText: z.string(),
        State: z.string(),
        /** Nanoseconds. */
        RunTime: z.number(),
        Failure: z.object({ Message: z.string().default('') }).optional(),
      }),
    ),
  }),
])

/** A test of upstream's suite that ran. */
export interface UpstreamTest {
  readonly name: string
  readonly state: string
  readonly seconds: number
  readonly message: string
}

/**
 * Runs the tests of upstream's e2e suite whose names match `focus`, except those that match `skip`, one at a
 * time.
 */
export async function runUpstreamTests(
  { directory, operator }: Pick<UpCluster, 'directory' | 'operator'>,
  { focus, skip }: { readonly focus: string; readonly skip: string },
): Promise<readonly UpstreamTest[]> {
  const kubeconfig = join(directory, 'kubeconfig')
  await writeFile(kubeconfig, (await operator.must(0, 'kubeconfig')).stdout, { mode: 0o600 })
  const options = { cache: cacheDirectory(), report: silentReport }
  const [suite] = await buildComponents(selectParts(['e2e@v1.37.1']), options)
  const report = join(directory, 'report.json')
  await runProgram(
    [
      join(suite?.directory ?? '', 'e2e.test'),
      '--provider=skeleton',
      `--kubeconfig=${kubeconfig}`,
      `--e2e-output-dir=${directory}`,
      '--disable-log-dump',
      '--ginkgo.no-color',
      '--ginkgo.timeout=2h',
      `--ginkgo.json-report=${report}`,
      `--ginkgo.focus=${focus}`,
      `--ginkgo.skip=${skip}`,
    ],
    { allowFailure: true },
  )
  const [{ SpecReports }] = reportSchema.parse(JSON.parse(await readFile(report, 'utf8')))
  return SpecReports.filter(
    ({ LeafNodeType, State }) => LeafNodeType === 'It' && State !== 'skipped' && State !== 'pending',
  ).map(({ ContainerHierarchyTexts, LeafNodeText, State, RunTime, Failure }) => ({
    name: [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' '),
    state: State,
    seconds: RunTime / 1e9,
    message: Failure?.Message ?? '',
  }))
}
