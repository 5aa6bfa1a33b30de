import { z } from 'zod'
import type { Confirmation } from '../../actions/phases/action-run.ts'
import { buildUnknownHostKeyError, type UnknownHostKey } from '../../ssh/host-key-errors.ts'
import type { CommandContext, GlobalOptions } from './command.ts'
import { choosePrompts } from './prompts.ts'

const acceptFlags = z.looseObject({ acceptNewHostKeys: z.boolean().default(false) })

/**
 * Asks whether to accept unknown ssh host keys. --yes does not accept them: it confirms changes that the
 * operator expects, but no operator can expect the key of a new machine.
 */
export async function confirmHostKeys(
  context: Pick<CommandContext, 'openPrompts' | 'signal' | 'typedCommand'>,
  options: GlobalOptions,
  unknown: readonly UnknownHostKey[],
  canPrompt: boolean,
): Promise<Confirmation> {
  if (acceptFlags.parse(options).acceptNewHostKeys) return 'confirmed'
  const prompts = canPrompt ? choosePrompts(context, { input: options.input }) : undefined
  if (prompts === undefined)
    throw buildUnknownHostKeyError(
      unknown,
      `hyperkube ${context.typedCommand ?? 'plan'} --accept-new-host-keys`,
    )
  const message = unknown.length === 1 ? 'accept this ssh host key?' : 'accept these ssh host keys?'
  return (await prompts.confirm({ message, fallback: false })) ? 'confirmed' : 'declined'
}
