import type { ComponentPlanner, WindowsPlanContext } from '../context.ts'
import { planExtraFiles } from '../files.ts'
import { planWindowsApiserverProxy } from './apiserver-proxy.ts'
import { planWindowsContainerd } from './containerd.ts'
import { planWindowsFlanneld } from './flanneld.ts'
import { planWindowsHostSettings } from './host-settings.ts'
import { planWindowsAgent } from './hyperkube-agent.ts'
import { planWindowsKubeProxy } from './kube-proxy.ts'
import { planWindowsKubelet } from './kubelet.ts'
import { systemAccount } from './paths.ts'

/**
 * Planners of all components of a Windows host, in the order of installation. A Windows host is always a
 * worker.
 */
export const windowsComponents: readonly ComponentPlanner<WindowsPlanContext>[] = [
  planWindowsHostSettings,
  planExtraFiles(systemAccount),
  planWindowsAgent,
  planWindowsContainerd,
  planWindowsApiserverProxy,
  planWindowsKubelet,
  planWindowsFlanneld,
  planWindowsKubeProxy,
]
