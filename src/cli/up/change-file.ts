import type { Cluster } from '../../spec/cluster.ts'
import { type Context, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import { readChecked } from '../load-cluster.ts'
import { findingsText } from '../print.ts'
import { runUp, type UpWish } from './run-up.ts'

/** What else is to be said of a wish; `keep` keeps what is beside the file itself. */
export type ChangeWish = Omit<UpWish, 'cluster' | 'findings'>

/**
 * Changes a cluster.yml and brings the cluster to it, as if a person had edited the file and typed up. The file is written
 * once that was agreed to, so that whoever goes on after an interruption finds the wish in it.
 */
export async function runChanged(
  context: Context,
  options: Invocation['options'],
  change: (text: string) => string,
  wishFor: (cluster: Cluster) => Promise<ChangeWish>,
): Promise<ExitCode> {
  const { file } = options
  const text = change(await context.readFile(file))
  const { cluster, findings } = await readChecked({ file, text })
  if (cluster === undefined) {
    context.stderr.write(findingsText(findings))
    context.stderr.write(`nothing was done, and ${file} is as it was\n`)
    return exitCodes.failure
  }
  const wish = await wishFor(cluster)
  return runUp(context, options, {
    ...wish,
    cluster,
    findings,
    async keep() {
      await wish.keep?.()
      await context.replaceFile(file, text, 0o644)
    },
  })
}
