import { admissionRules } from './admission.ts'
import { apiServerRules } from './api-server.ts'
import { controllerManagerRules, etcdRules, schedulerRules } from './control-plane.ts'
import { kubeletAccessRules } from './kubelet-access.ts'
import { kubeletPodRules } from './kubelet-pods.ts'
import { containerdRules, kubeProxyRules } from './node.ts'
import type { WeakeningSetting } from './setting.ts'

/** All settings of cluster.yml that can weaken the cluster, in the order of the reference documentation. */
export const weakeningSettings: readonly WeakeningSetting[] = [
  ...apiServerRules,
  ...admissionRules,
  ...controllerManagerRules,
  ...schedulerRules,
  ...etcdRules,
  ...kubeletAccessRules,
  ...kubeletPodRules,
  ...kubeProxyRules,
  ...containerdRules,
]
