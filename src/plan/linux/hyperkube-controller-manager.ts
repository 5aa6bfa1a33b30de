import { managerUser } from '../../contract/manager-settings.ts'
import { planClientCertificate } from '../certificate.ts'
import { buildComponentPlan, type ComponentPlanner } from '../component.ts'
import { planTextFile } from '../files.ts'
import { managerPort, renderManagerSettings } from '../manager-settings.ts'
import { formatMemoryFloor } from '../memory-floors.ts'
import { isManager, type LinuxPlanContext } from '../context.ts'
import { configRoot, planLinuxKubeconfig, hyperkubeProgram } from './paths.ts'
import { planLocalProbe } from './probes.ts'
import { sandboxSettings, buildSystemdService, mallocThreshold } from './unit.ts'

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
        description: 'controllers of hyperkube, which look after the cluster',
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
        // RBAC rules depend on the release, so a new release restarts the service. systemd ignores settings
        // that start with X-.
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
