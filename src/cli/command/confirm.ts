import type { Confirmation, ProvisionalDecision } from '../../actions/phases/action-run.ts'
import { formatDuration } from '../../kit/time-format.ts'
import { type CommandContext, exitCodes, type GlobalOptions } from './command.ts'
import { choosePrompts, Interrupted, type Prompts } from './prompts.ts'

/** Exit code of a command that the operator did not confirm. */
export const exitCodeByConfirmation = {
  declined: exitCodes.changesPending,
  'no-terminal': exitCodes.usage,
} as const

/** Asks the operator to confirm the shown changes. */
export async function confirmChanges(
  context: CommandContext,
  options: GlobalOptions,
  canPrompt: boolean,
): Promise<Confirmation> {
  return promptToConfirm(context, options, canPrompt, async (prompts) =>
    prompts.confirm({ message: 'make these changes?', fallback: false }),
  )
}

/** Asks the operator to type the name of the cluster, for changes that cannot be undone. */
export async function confirmByName(
  context: CommandContext,
  options: GlobalOptions,
  name: string,
  canPrompt: boolean,
): Promise<Confirmation> {
  return promptToConfirm(context, options, canPrompt, async (prompts) => {
    const input = await prompts.text({
      message: `type the cluster name (${name}) to continue, or press Enter to cancel`,
      fallback: '',
      check: (text) => (text === name || text === '' ? undefined : `the cluster name is ${name}`),
    })
    return input === name
  })
}

async function promptToConfirm(
  context: CommandContext,
  options: GlobalOptions,
  canPrompt: boolean,
  prompt: (prompts: Prompts) => Promise<boolean>,
): Promise<Confirmation> {
  if (options.yes === true) return 'confirmed'
  const prompts = canPrompt ? choosePrompts(context, options) : undefined
  if (prompts === undefined) {
    context.stderr.write(
      'USAGE: changes need a confirmation, but prompts are not possible; nothing was changed\n',
    )
    context.stderr.write(`  → to confirm all changes: hyperkube ${context.typedCommand ?? 'COMMAND'} --yes\n`)
    return 'no-terminal'
  }
  if (await prompt(prompts)) return 'confirmed'
  context.stderr.write('nothing was changed\n')
  return 'declined'
}

/** Interval at which the prompt is repeated with the remaining time. */
const repeatMs = 60_000

/** Asks the operator to confirm or roll back a provisional change, until the time `until` has passed. */
export async function promptProvisional(
  { openPrompts, signal, now }: Pick<CommandContext, 'openPrompts' | 'signal' | 'now'>,
  options: GlobalOptions,
  until: Date,
): Promise<ProvisionalDecision> {
  for (;;) {
    const remainingMs = until.getTime() - now().getTime()
    if (remainingMs <= 0) return 'over'
    const tick = AbortSignal.timeout(Math.min(remainingMs, repeatMs))
    const prompts = choosePrompts({ openPrompts, signal: AbortSignal.any([signal, tick]) }, options)
    if (prompts === undefined) return 'no-prompt'
    try {
      const message = `Keep the provisional change? Time left: ${formatDuration(remainingMs)}. No rolls back now; Ctrl-C leaves the change provisional.`
      return (await prompts.confirm({ message, fallback: false })) ? 'confirm' : 'rollback'
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error
      if (!tick.aborted || signal.aborted) return 'left'
    }
  }
}
