import { component, type Planner } from '../component.ts'
import { memoryFloors } from '../memory-floors.ts'
import { textFile } from '../files.ts'
import { flooredComponents } from '../reserved-resources.ts'
import { isNode, type LinuxScene } from '../context.ts'
import { etc, logs, state } from './paths.ts'
import { renderUnit, slice } from './unit.ts'

/** What the host itself needs before anything runs on it. */
export const hostSettings: Planner<LinuxScene> = (scene) => {
  const { system } = scene
  const shared = { owner: 'root', mode: '0755' }
  return component({
    name: 'host',
    stage: 'prepare',
    modules:
      isNode(scene) && system.kernel.modules ? ['br_netfilter', 'nf_conntrack', 'overlay', 'vxlan'] : [],
    sysctls: isNode(scene) ? sysctls(system) : {},
    directories: [
      { path: etc, ...shared },
      { path: state, ...shared },
      { path: logs, ...shared },
      { path: '/opt/hyperkube', ...shared },
    ],
    files: [
      textFile(`/etc/systemd/system/${slice}`, sliceUnit(scene), {
        owner: 'root',
        mode: '0644',
        restart: false,
      }),
      ...(system.networkManager && isNode(scene)
        ? [
            textFile('/etc/NetworkManager/conf.d/90-hyperkube.conf', unmanaged, {
              owner: 'root',
              mode: '0644',
              restart: false,
            }),
          ]
        : []),
    ],
  })
}

function sysctls({ container, kernel }: LinuxScene['system']): Record<string, string> {
  return {
    'net.ipv4.ip_forward': '1',
    // Else packets between pods of one bridge pass the service proxy by.
    ...(kernel.bridgeNetfilter
      ? { 'net.bridge.bridge-nf-call-iptables': '1', 'net.bridge.bridge-nf-call-ip6tables': '1' }
      : {}),
    // As the kubelet wants to find them; in a container they belong to the machine around it.
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

/** A floor of a service holds only as far as that of the slice around it. */
function sliceUnit(scene: LinuxScene): string {
  const floor = flooredComponents(scene).reduce((sum, name) => sum + memoryFloors[name], 0)
  return renderUnit([
    ['Unit', [['Description', 'the services of the cluster']]],
    ['Slice', scene.system.cgroup.version === 2 ? [['MemoryMin', `${floor}M`]] : []],
  ])
}

/** NetworkManager would take the addresses of the pod network away. */
const unmanaged =
  '[keyfile]\nunmanaged-devices=interface-name:cni0;interface-name:flannel*;interface-name:veth*\n'
