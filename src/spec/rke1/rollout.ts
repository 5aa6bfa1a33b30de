import { z } from 'zod'
import { drop, mapped, refuse, type Rule, type Table, unsupported } from './rule.ts'
import { text } from './scalars.ts'

const amount = text
  .pipe(z.string().regex(/^([1-9]\d*|([1-9]\d?|100)%)$/, 'must be a number or a percentage, and at least 1'))
  .transform((written) => (written.endsWith('%') ? written : Number(written)))

const controlPlanes: Rule = ({ value }) =>
  text.safeParse(value).data === '1'
    ? drop('control planes are always changed one by one')
    : refuse('control planes are always changed one by one; plan for the longer time')

const draining = unsupported('no settings for draining yet')

export const rollout: Table = {
  'upgrade_strategy.max_unavailable_worker': mapped('spec.rollout.maxUnavailable', amount),
  'upgrade_strategy.max_unavailable_controlplane': controlPlanes,
  'upgrade_strategy.drain': draining,
  'upgrade_strategy.node_drain_input': draining,
}
