import { isNode } from '../context.ts'
import { type LinuxCheck, hostWarning } from './check.ts'

const path = 'spec.network.flannel.mtu'

/** Warns if the flannel MTU in cluster.yml is larger than the MTU of the host interface. */
export const checkMtu: LinuxCheck = (subject) => {
  const { plugin, flannel } = subject.cluster.spec.network
  const desiredMtu = flannel.mtu
  if (desiredMtu === undefined || plugin !== 'flannel' || !isNode(subject)) return []
  const hostInterface = subject.system.addresses.find(({ address }) => address === subject.address)
  if (hostInterface?.mtu === undefined || desiredMtu <= hostInterface.mtu) return []
  const message = `the MTU ${desiredMtu} of cluster.yml exceeds the MTU ${hostInterface.mtu} of ${hostInterface.interface}: large packets would be lost`
  return [
    hostWarning(subject, 'HOST_MTU', message, {
      hint: `mtu: ${hostInterface.mtu}`,
      path,
      component: 'flanneld',
    }),
  ]
}
