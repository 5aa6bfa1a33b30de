import { isNode } from '../context.ts'
import { type LinuxCheck, warning } from './check.ts'

const path = 'spec.network.flannel.mtu'

/** A size of packets that cluster.yml sets, and that the interface of the host does not take. */
export const mtu: LinuxCheck = (subject) => {
  const { plugin, flannel } = subject.cluster.spec.network
  const wish = flannel.mtu
  if (wish === undefined || plugin !== 'flannel' || !isNode(subject)) return []
  const own = subject.system.addresses.find(({ address }) => address === subject.address)
  if (own?.mtu === undefined || wish <= own.mtu) return []
  const message = `packets shall have ${wish} bytes, and ${own.interface} takes ${own.mtu}: large ones would be lost`
  return [warning(subject, 'HOST_MTU', message, { hint: `mtu: ${own.mtu}`, path, component: 'flanneld' })]
}
