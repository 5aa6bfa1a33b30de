import type { ClusterFiles } from '../../workspace/context.ts'
import type { CommandContext } from '../command/command.ts'
import type { Prompts } from '../command/prompts.ts'
import { renderClusterDraft } from './cluster-draft.ts'
import { checkIdentityFiles } from './identity-files.ts'
import { promptCluster, promptName } from './wizard.ts'

/**
 * Asks for the settings of a first cluster.yml and returns its text. Undefined if the operator decides not to
 * write it.
 */
export async function promptClusterFile(
  context: CommandContext,
  options: ClusterFiles,
  prompts: Prompts,
  givenName: string | undefined,
  versions: readonly string[],
): Promise<string | undefined> {
  await prompts.begin('New cluster. Ctrl-C cancels; files are written only at the end.')
  const name = givenName ?? (await promptName(prompts))
  // Checks the identity files before the other prompts, so a failure does not discard replies.
  await checkIdentityFiles(context, options, name)
  const text = renderClusterDraft(await promptCluster(prompts, name, versions))
  await prompts.show(options.file, text)
  const message = `Write ${options.file} and create the cluster identity?`
  const isConfirmed = await prompts.confirm({ message, fallback: true })
  await prompts.end(isConfirmed ? 'Creating these files:' : 'Nothing was written.')
  return isConfirmed ? text : undefined
}
