import { address, port } from '../scalars.ts'
import { dropRule, forKeys, mapRule, type RuleTable, unsupportedRule } from './rule.ts'
import { looseNumber, looseText } from './scalars.ts'

const agent = dropRule('the ssh agent is asked wherever no key is named')
const certificate = unsupportedRule('no ssh certificates yet; let the ssh agent hold them')

/** Rules for SSH settings that apply to all hosts. */
export const rke1SshRules: RuleTable = {
  ssh_key_path: mapRule('spec.ssh.key', looseText),
  ssh_agent_auth: agent,
  ssh_cert_path: certificate,
  'bastion_host.address': mapRule('spec.ssh.bastion.address', looseText.pipe(address)),
  'bastion_host.user': mapRule('spec.ssh.bastion.user', looseText),
  'bastion_host.port': mapRule('spec.ssh.bastion.port', looseNumber.pipe(port)),
  'bastion_host.ssh_key_path': mapRule('spec.ssh.bastion.key', looseText),
  'bastion_host.ssh_key': unsupportedRule(
    'a key is never copied; save it as a file and name that in ssh.bastion.key',
  ),
  'bastion_host.ssh_agent_auth': agent,
  ...forKeys('bastion_host.', ['ssh_cert', 'ssh_cert_path'], certificate),
  'bastion_host.ignore_proxy_env_vars': dropRule('proxies of your shell are not asked on the way to hosts'),
}
