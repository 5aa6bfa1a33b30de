import { emptySettings, type ManagerSettings, managerUser } from '../../contract/manager-settings.ts'
import { planClientCertificate } from '../certificate.ts'
import {
  buildComponentPlan,
  type ComponentPlanner,
  isManager,
  type LinuxPlanContext,
  type PlanContext,
} from '../context.ts'
import { planTextFile } from '../files.ts'
import { formatMemoryFloor } from '../reserved-resources.ts'
import { configRoot, hyperkubeProgram, planLinuxKubeconfig } from './paths.ts'
import { planLocalProbe } from './probe-defaults.ts'
import { buildSystemdService, mallocThreshold, sandboxSettings } from './unit.ts'

/** Local port for health and metrics of hyperkube-controller-manager. */
export const managerPort = 6447

const name = 'hyperkube-controller-manager'
const directory = `${configRoot}/hyperkube-controller-manager`

export const planHyperkubeControllerManager: ComponentPlanner<LinuxPlanContext> = (context) => {
  const { cluster, identity, system, version } = context
  const { api, manager } = cluster.spec
  if (!isManager(context) || manager === 'none') return undefined
  return buildComponentPlan({
    name,
    stage: 'controllers',
    version,
    needs: ['kube-apiserver'],
    users: [name],
    directories: [{ path: directory, owner: name, mode: '0700' }],
    files: [
      // The manager reloads the CA and its certificate without a restart.
      planTextFile(`${directory}/ca.crt`, identity.cas.kubernetes, {
        owner: name,
        mode: '0644',
        restart: false,
      }),
      // The manager connects only to the local API server. If that server is down, the manager of another
      // control plane becomes leader.
      planLinuxKubeconfig(context, name, `https://127.0.0.1:${api.port}`, name),
      planTextFile(`${directory}/settings.json`, renderManagerSettings(context), { owner: name }),
    ],
    certificates: [
      planClientCertificate(context, {
        path: `${directory}/client`,
        owner: name,
        ca: 'kubernetes',
        commonName: managerUser,
      }),
    ],
    service: buildSystemdService(
      {
        name,
        description: 'hyperkube controller manager',
        after: ['kube-apiserver'],
        type: 'exec',
        user: name,
        command: [
          hyperkubeProgram,
          'controller-manager',
          `--kubeconfig=${directory}/kubeconfig`,
          `--settings=${directory}/settings.json`,
          `--controllers=${manager.controllers.join(',')}`,
          `--listen=127.0.0.1:${managerPort}`,
        ],
        memoryFloor: formatMemoryFloor(name),
        // The RBAC rules of the service depend on the hyperkube release. The release is in the unit, so that
        // a new release restarts the service. systemd ignores settings that start with X-.
        settings: [...sandboxSettings(), mallocThreshold, ['X-Hyperkube-Release', version]],
      },
      system,
    ),
    probes: [
      planLocalProbe({
        name: 'livez',
        check: { kind: 'http', url: `http://127.0.0.1:${managerPort}/livez` },
      }),
    ],
  })
}

/**
 * Renders the settings that controllers need from cluster.yml. Addons are included only if controllers repair
 * them. Otherwise each addon change would needlessly change this file on every control plane.
 */
function renderManagerSettings({ cluster, addons }: Pick<PlanContext, 'cluster' | 'addons'>): string {
  const { etcd, manager } = cluster.spec
  const repairsAddons = manager !== 'none' && manager.controllers.includes('addon-reconciler')
  const settings: ManagerSettings = {
    ...emptySettings,
    ...(etcd.snapshots === undefined ? {} : { snapshots: etcd.snapshots }),
    ...(repairsAddons && addons !== undefined ? { addons } : {}),
  }
  return `${JSON.stringify(settings, undefined, 2)}\n`
}
