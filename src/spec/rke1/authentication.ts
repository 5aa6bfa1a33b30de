import { address } from '../scalars.ts'
import { drop, dropped, parsed, refuse, type Rule, type Table, take, unsupported } from './rule.ts'
import { text } from './scalars.ts'

const strategy: Rule = ({ value }) =>
  value === 'x509'
    ? drop('certificates are always accepted')
    : refuse('only x509 is translated; set the flags of a webhook in components.apiServer.args')

const san: Rule = ({ value, holes }) =>
  parsed(text.pipe(address), value, (name) => ({
    ...take(['spec', 'api', 'sans', holes[0] ?? 0], name),
    told: { verdict: 'mapped', to: 'spec.api.sans' },
  }))

const mode: Rule = ({ value }) =>
  value === 'rbac'
    ? drop('RBAC is always on')
    : refuse('RBAC is always on; give rights by bindings before you move')

export const authentication: Table = {
  'authentication.strategy': strategy,
  'authentication.sans[]': san,
  'authentication.webhook': unsupported(
    'put its file on the control planes with hosts[].files, and its flags into components.apiServer.args',
  ),
  'authorization.mode': mode,
  'authorization.options': dropped('RKE1 did nothing with it'),
}
