import { address, port } from '../scalars.ts'
import { dropped, each, mapped, type Table, unsupported } from './rule.ts'
import { number, text } from './scalars.ts'

const agent = dropped('the ssh agent is asked wherever no key is named')
const certificate = unsupported('no ssh certificates yet; let the ssh agent hold them')

/** How all hosts are reached. */
export const ssh: Table = {
  ssh_key_path: mapped('spec.ssh.key', text),
  ssh_agent_auth: agent,
  ssh_cert_path: certificate,
  'bastion_host.address': mapped('spec.ssh.bastion.address', text.pipe(address)),
  'bastion_host.user': mapped('spec.ssh.bastion.user', text),
  'bastion_host.port': mapped('spec.ssh.bastion.port', number.pipe(port)),
  'bastion_host.ssh_key_path': mapped('spec.ssh.bastion.key', text),
  'bastion_host.ssh_key': unsupported(
    'a key is never copied; save it as a file and name that in ssh.bastion.key',
  ),
  'bastion_host.ssh_agent_auth': agent,
  ...each('bastion_host.', ['ssh_cert', 'ssh_cert_path'], certificate),
  'bastion_host.ignore_proxy_env_vars': dropped('proxies of your shell are not asked on the way to hosts'),
}
