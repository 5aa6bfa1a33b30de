import { isDualStack } from '../../spec/network.ts'
import { buildComponentPlan, type ComponentPlanner, isNode, type LinuxPlanContext } from '../context.ts'
import { planTextFile } from '../files.ts'
import { listFlooredComponents, memoryFloors } from '../reserved-resources.ts'
import { findDevice } from '../topology.ts'
import { configRoot, logRoot, stateRoot } from './paths.ts'
import { hyperkubeSlice, renderUnit } from './unit.ts'

/** Plans settings of the host itself, which are applied before any component starts. */
export const planLinuxHostSettings: ComponentPlanner<LinuxPlanContext> = (context) => {
  const { system } = context
  const sharedDirectory = { owner: 'root', mode: '0755' }
  return buildComponentPlan({
    name: 'host',
    stage: 'prepare',
    modules:
      isNode(context) && system.kernel.modules ? ['br_netfilter', 'nf_conntrack', 'overlay', 'vxlan'] : [],
    sysctls: isNode(context) ? { ...buildIpv6Sysctls(context), ...buildSysctls(system) } : {},
    directories: [
      { path: configRoot, ...sharedDirectory },
      { path: stateRoot, ...sharedDirectory },
      { path: logRoot, ...sharedDirectory },
      { path: '/opt/hyperkube', ...sharedDirectory },
    ],
    files: [
      planTextFile(`/etc/systemd/system/${hyperkubeSlice}`, renderSliceUnit(context), {
        owner: 'root',
        restart: false,
      }),
      ...(system.networkManager && isNode(context)
        ? [
            planTextFile('/etc/NetworkManager/conf.d/90-hyperkube.conf', unmanagedDevices, {
              owner: 'root',
              mode: '0644',
              restart: false,
            }),
          ]
        : []),
    ],
  })
}

/**
 * Builds the settings with which the host forwards IPv6. A host that forwards ignores router advertisements,
 * and would lose a default route that it got from one. `accept_ra` must have its value before that.
 */
function buildIpv6Sysctls({ cluster, system, address }: LinuxPlanContext): Record<string, string> {
  if (!isDualStack(cluster.spec.network)) return {}
  const { defaultInterface, routerAdvertisements = [] } = system.ipv6 ?? {}
  // The default route may be at another interface than the address of the node.
  const uplinks = new Set([findDevice(system, address), defaultInterface])
  const accepting = routerAdvertisements.filter((name) => uplinks.has(name))
  return {
    // With slashes, because the name of an interface may contain a dot.
    ...Object.fromEntries(accepting.map((name) => [`net/ipv6/conf/${name}/accept_ra`, '2'])),
    'net.ipv6.conf.all.forwarding': '1',
  }
}

function buildSysctls({ container, kernel }: LinuxPlanContext['system']): Record<string, string> {
  return {
    'net.ipv4.ip_forward': '1',
    // Without these settings, packets between pods on the same bridge bypass the rules of kube-proxy.
    ...(kernel.bridgeNetfilter
      ? { 'net.bridge.bridge-nf-call-iptables': '1', 'net.bridge.bridge-nf-call-ip6tables': '1' }
      : {}),
    // Values that the kubelet requires. If the host is a container, they cannot be set, because they belong
    // to the kernel of the machine that runs the container.
    ...(container
      ? {}
      : {
          'fs.inotify.max_user_instances': '8192',
          'fs.inotify.max_user_watches': '524288',
          'kernel.panic': '10',
          'kernel.panic_on_oops': '1',
          'vm.overcommit_memory': '1',
        }),
  }
}

/**
 * Renders the slice of all services. Its memory floor is the sum of their floors, because systemd limits the
 * floor of a service to that of its slice.
 */
function renderSliceUnit(context: LinuxPlanContext): string {
  const floor = listFlooredComponents(context).reduce((sum, name) => sum + memoryFloors[name], 0)
  return renderUnit([
    ['Unit', [['Description', 'hyperkube cluster services']]],
    ['Slice', context.system.cgroup.version === 2 ? [['MemoryMin', `${floor}M`]] : []],
  ])
}

/**
 * Makes NetworkManager ignore the interfaces of the pod network. Otherwise NetworkManager would remove their
 * addresses.
 */
const unmanagedDevices =
  '[keyfile]\nunmanaged-devices=interface-name:cni0;interface-name:flannel*;interface-name:veth*\n'
