import { z } from 'zod'
import { dropKey, mapRule, refuseKey, type KeyRule, type RuleTable, unsupportedRule } from './rule.ts'
import { looseText } from './scalars.ts'

const amount = looseText
  .pipe(z.string().regex(/^([1-9]\d*|([1-9]\d?|100)%)$/, 'must be a number or a percentage, and at least 1'))
  .transform((written) => (written.endsWith('%') ? written : Number(written)))

const controlPlanes: KeyRule = ({ value }) =>
  looseText.safeParse(value).data === '1'
    ? dropKey('control planes are always changed one by one')
    : refuseKey('control planes are always changed one by one; plan for the longer time')

const draining = unsupportedRule('no settings for draining yet')

export const rke1RolloutRules: RuleTable = {
  'upgrade_strategy.max_unavailable_worker': mapRule('spec.rollout.maxUnavailable', amount),
  'upgrade_strategy.max_unavailable_controlplane': controlPlanes,
  'upgrade_strategy.drain': draining,
  'upgrade_strategy.node_drain_input': draining,
}
