import type { Cluster } from '../../spec/cluster.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import { readCheckedCluster } from '../load-cluster.ts'
import { formatFindings } from '../print.ts'
import { runUp, type UpInputs } from './run-up.ts'

/**
 * Inputs of `up` other than the cluster itself. `persist` saves inputs that are stored outside cluster.yml.
 */
export type ChangedUpInputs = Omit<UpInputs, 'cluster' | 'findings'>

/**
 * Changes cluster.yml and runs `up`, as if a person had edited the file. The file is written after the change
 * was confirmed, so `up` can resume an interrupted run.
 */
export async function changeFileAndRunUp(
  context: CommandContext,
  options: Invocation['options'],
  change: (text: string) => string,
  buildInputs: (cluster: Cluster) => Promise<ChangedUpInputs>,
): Promise<ExitCode> {
  const { file } = options
  const text = change(await context.readFile(file))
  const { cluster, findings } = await readCheckedCluster({ file, text })
  if (cluster === undefined) {
    context.stderr.write(formatFindings(findings))
    context.stderr.write(`nothing was done, and ${file} is as it was\n`)
    return exitCodes.failure
  }
  const inputs = await buildInputs(cluster)
  return runUp(context, options, {
    ...inputs,
    cluster,
    findings,
    async persist() {
      await inputs.persist?.()
      await context.replaceFile(file, text, 0o644)
    },
  })
}
