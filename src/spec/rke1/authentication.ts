import { address } from '../scalars.ts'
import {
  dropKey,
  dropRule,
  parseValue,
  refuseKey,
  type KeyRule,
  type RuleTable,
  mapKey,
  unsupportedRule,
} from './rule.ts'
import { looseText } from './scalars.ts'

const strategy: KeyRule = ({ value }) =>
  value === 'x509'
    ? dropKey('certificates are always accepted')
    : refuseKey('only x509 is translated; set the flags of a webhook in components.apiServer.args')

const san: KeyRule = ({ value, captures }) =>
  parseValue(looseText.pipe(address), value, (name) => ({
    ...mapKey(['spec', 'api', 'sans', captures[0] ?? 0], name),
    result: { verdict: 'mapped', to: 'spec.api.sans' },
  }))

const mode: KeyRule = ({ value }) =>
  value === 'rbac'
    ? dropKey('RBAC is always on')
    : refuseKey('RBAC is always on; give rights by bindings before you move')

export const rke1AuthenticationRules: RuleTable = {
  'authentication.strategy': strategy,
  'authentication.sans[]': san,
  'authentication.webhook': unsupportedRule(
    'put its file on the control planes with hosts[].files, and its flags into components.apiServer.args',
  ),
  'authorization.mode': mode,
  'authorization.options': dropRule('RKE1 did nothing with it'),
}
