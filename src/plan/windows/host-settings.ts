import { win32 } from 'node:path'
import { windowsNetworkFile } from '../../contract/windows-network.ts'
import { component, type Planner } from '../component.ts'
import { textFile } from '../files.ts'
import type { WindowsScene } from '../context.ts'
import { hostNetwork } from './host-network.ts'
import { closedDirectory, owner, placesOf } from './paths.ts'

/** What the host itself needs before anything runs on it. */
export const hostSettings: Planner<WindowsScene> = (scene) => {
  const { base, programs, settings, state, logs } = placesOf(scene)
  const { plugin, flannel, nodePorts } = scene.cluster.spec.network
  const network = win32.join(base, windowsNetworkFile)
  return component({
    name: 'host',
    stage: 'prepare',
    // Windows lets nothing in that no rule names.
    firewall: [
      { name: 'hyperkube-kubelet', protocol: 'tcp', ports: '10250' },
      // Balancers in front of services ask here whether a node is fit for them.
      { name: 'hyperkube-kube-proxy-health', protocol: 'tcp', ports: '10256' },
      { name: 'hyperkube-node-ports-tcp', protocol: 'tcp', ports: nodePorts },
      { name: 'hyperkube-node-ports-udp', protocol: 'udp', ports: nodePorts },
      ...(plugin === 'flannel'
        ? [{ name: 'hyperkube-flannel', protocol: 'udp' as const, ports: String(flannel.port) }]
        : []),
    ],
    directories: [base, programs, settings, win32.dirname(network), state, logs].map(closedDirectory),
    // The agent reads it in every round.
    files: [
      textFile(network, `${JSON.stringify(hostNetwork(scene), undefined, 2)}\n`, { owner, restart: false }),
    ],
  })
}
