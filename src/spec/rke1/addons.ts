import { valueAt } from './facts.ts'
import { drop, dropped, refuse, type Rule, type Table, unsupported } from './rule.ts'

const later = 'hyperkube has no addons yet; keep what runs there, or install it with kubectl'

const provider: Rule = ({ value }) =>
  valueAt(value, ['provider']) === 'none' ? drop('none is what hyperkube does') : refuse(later)

export const addons: Table = {
  ingress: provider,
  dns: provider,
  monitoring: provider,
  addons: unsupported(later),
  addons_include: unsupported(later),
  addon_job_timeout: dropped('hyperkube has no addon jobs'),
}
