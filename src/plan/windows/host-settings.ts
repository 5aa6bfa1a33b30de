import { win32 } from 'node:path'
import { windowsNetworkFile } from '../../contract/windows-network.ts'
import { buildComponentPlan, type ComponentPlanner, type WindowsPlanContext } from '../context.ts'
import { planTextFile } from '../files.ts'
import { planHostNetwork } from './host-network.ts'
import { buildWindowsPlanPaths, planPrivateDirectory, systemAccount } from './paths.ts'

/** Plans settings of the host itself, which are applied before any component starts. */
export const planWindowsHostSettings: ComponentPlanner<WindowsPlanContext> = (context) => {
  const { base, programs, settings, state, logs } = buildWindowsPlanPaths(context)
  const { plugin, flannel, nodePorts } = context.cluster.spec.network
  const network = win32.join(base, windowsNetworkFile)
  return buildComponentPlan({
    name: 'host',
    stage: 'prepare',
    // Windows blocks incoming traffic unless a rule allows it.
    firewall: [
      { name: 'hyperkube-kubelet', protocol: 'tcp', ports: '10250' },
      // External load balancers check on this port whether a node can serve a service.
      { name: 'hyperkube-kube-proxy-health', protocol: 'tcp', ports: '10256' },
      { name: 'hyperkube-node-ports-tcp', protocol: 'tcp', ports: nodePorts },
      { name: 'hyperkube-node-ports-udp', protocol: 'udp', ports: nodePorts },
      ...(plugin === 'flannel'
        ? [{ name: 'hyperkube-flannel', protocol: 'udp' as const, ports: String(flannel.port) }]
        : []),
    ],
    directories: [base, programs, settings, win32.dirname(network), state, logs].map(planPrivateDirectory),
    // The agent reads the network settings whenever it reconciles, so a change needs no restart.
    files: [
      planTextFile(network, `${JSON.stringify(planHostNetwork(context), undefined, 2)}\n`, {
        owner: systemAccount,
        restart: false,
      }),
    ],
  })
}
