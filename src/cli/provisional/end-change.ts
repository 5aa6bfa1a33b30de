import type { Finding } from '../../contract/finding.ts'
import { onTrial, wentBack } from '../../lifecycle/auto-rollback/provisional-changes.ts'
import { exitCodes } from '../command.ts'
import type { Verdict } from '../run-with-progress.ts'
import { missingFindings } from '../up/unreachable-findings.ts'
import { refused } from '../up/refused-result.ts'
import type { ClaimScene } from '../up/operator-lock.ts'
import { listed } from '../format-text.ts'
import { backAll, keepAll } from './settle-change.ts'

export interface EndTrialScene extends ClaimScene {
  readonly action: 'keep' | 'back'
  /** From now on hosts are waited for, though somebody interrupts. */
  readonly begin: () => void
}

export interface EndedTrial extends Verdict {
  /** Those that were told. */
  readonly hosts: readonly string[]
}

/** Ends what hosts that were reached have on trial: it stays, or they go back from it now. */
export async function endTrialOf(scene: EndTrialScene): Promise<EndedTrial> {
  const { crew, run, action, begin } = scene
  const away = missingFindings(crew.missing).map((finding): Finding => ({ ...finding, severity: 'warning' }))
  for (const finding of away) run.tell({ type: 'finding', finding })
  const trials = onTrial(crew.trials)
  if (trials.size === 0) return none(scene)
  begin()
  const late = action === 'keep' ? await keepAll(scene, trials) : (await backAll(scene, trials), [])
  // Whoever did not answer may be on trial too, and goes back by itself.
  const whole = late.length === 0 && away.length === 0
  if (late.length > 0) run.say(`${listed(late)} went back before; hyperkube up brings it there again\n`)
  return {
    code: whole ? exitCodes.ok : exitCodes.changesPending,
    result: { outcome: 'done' },
    hosts: [...trials.keys()].filter((host) => !late.includes(host)),
  }
}

/** Who wants to keep what is gone must hear of it; that nothing is to be gone back from is well. */
function none({ crew, run, action }: EndTrialScene): EndedTrial {
  const back = [...wentBack(crew.trials).keys()]
  if (action === 'keep' && back.length > 0) {
    const finding: Finding = {
      code: 'TRIAL_OVER',
      severity: 'error',
      message: `nothing is on trial any more: ${listed(back)} went back`,
      hint: 'hyperkube plan shows what is to be done; hyperkube up --trial tries it again',
    }
    run.tell({ type: 'finding', finding })
    return { ...refused([finding]), hosts: [] }
  }
  run.say('nothing is on trial\n')
  return { code: exitCodes.ok, result: { outcome: 'unchanged' }, hosts: [] }
}
