import type { Context } from '../command.ts'
import type { IdentityOptions } from '../load-identity.ts'
import type { Questions } from '../prompts.ts'
import { firstFile } from './cluster-draft.ts'
import { findIdentity } from './identity-files.ts'
import { askCluster, askName } from './wizard.ts'

/** Asks for a first file until the person wants it written. Undefined when they do not. */
export async function interview(
  context: Context,
  options: IdentityOptions,
  questions: Questions,
  given: string | undefined,
): Promise<string | undefined> {
  await questions.begin('A new cluster. Ctrl-C leaves, and nothing is written.')
  const name = given ?? (await askName(questions))
  // Before the other questions, so that nobody answers them in vain.
  await findIdentity(context, options, name)
  const text = firstFile(await askCluster(questions, name))
  await questions.show(options.file, text)
  const message = `Write ${options.file}, and make the cluster’s identity?`
  const wanted = await questions.confirm({ message, fallback: true })
  await questions.end(wanted ? 'These are the files:' : 'Nothing was written.')
  return wanted ? text : undefined
}
