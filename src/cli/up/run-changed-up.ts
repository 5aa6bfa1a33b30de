import { type ClusterFileChange, InvalidFileChange } from '../../actions/change-cluster-file.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command/command.ts'
import { formatFindings } from '../command/print.ts'
import { runUp, type UpInputs } from './run-up.ts'

/** Runs `up` with a changed cluster.yml, unless the change makes cluster.yml invalid. */
export async function runChangedUp(
  context: CommandContext,
  options: Invocation['options'],
  command: string,
  prepare: () => Promise<ClusterFileChange & Partial<UpInputs>>,
): Promise<ExitCode> {
  return withValidChange(context, async () => runUp(context, options, { ...(await prepare()), command }))
}

/** Runs an action that changes cluster.yml, and reports why the change was refused. */
export async function withValidChange(
  context: Pick<CommandContext, 'stderr'>,
  action: () => Promise<ExitCode>,
): Promise<ExitCode> {
  try {
    return await action()
  } catch (error) {
    if (!(error instanceof InvalidFileChange)) throw error
    return reportInvalidChange(context, error)
  }
}

/** Reports why a change of cluster.yml was refused. */
export function reportInvalidChange(
  { stderr }: Pick<CommandContext, 'stderr'>,
  { file, findings }: InvalidFileChange,
): ExitCode {
  stderr.write(formatFindings(findings))
  stderr.write(`no host was changed, and ${file} was not written\n`)
  return exitCodes.failure
}
