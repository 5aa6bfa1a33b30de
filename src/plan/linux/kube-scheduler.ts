import { mergeArgs, tlsCipherSuites, toFlags } from '../args.ts'
import { planClientCertificate, planServerCertificate } from '../certificate.ts'
import {
  buildComponentPlan,
  type ComponentPlanner,
  isControlPlane,
  type LinuxPlanContext,
} from '../context.ts'
import { planTextFile } from '../files.ts'
import { formatMemoryFloor } from '../reserved-resources.ts'
import { planControlPlaneProgram } from './control-plane-program.ts'
import { configRoot, planLinuxKubeconfig } from './paths.ts'
import { planLocalProbe } from './probe-defaults.ts'
import { buildSystemdService, sandboxSettings } from './unit.ts'

const name = 'kube-scheduler'
const user = 'system:kube-scheduler'
const directory = `${configRoot}/kube-scheduler`

export const planKubeScheduler: ComponentPlanner<LinuxPlanContext> = (context) => {
  if (!isControlPlane(context)) return undefined
  const { cluster, identity, system } = context
  const { api, components } = cluster.spec
  const program = planControlPlaneProgram(context, name)
  const kubeconfig = `${directory}/kubeconfig`
  const args = mergeArgs(
    {
      kubeconfig,
      'authentication-kubeconfig': kubeconfig,
      'authorization-kubeconfig': kubeconfig,
      'bind-address': '127.0.0.1',
      'tls-cert-file': `${directory}/server.crt`,
      'tls-private-key-file': `${directory}/server.key`,
      'tls-min-version': 'VersionTLS12',
      'tls-cipher-suites': tlsCipherSuites.join(','),
      'client-ca-file': `${directory}/ca.crt`,
      profiling: 'false',
      ...program.args,
    },
    components.scheduler.args,
  )
  const own = { owner: name, ca: 'kubernetes' } as const
  return buildComponentPlan({
    name,
    stage: 'controllers',
    version: program.version,
    needs: ['kube-apiserver'],
    users: [name],
    directories: [{ path: directory, owner: name, mode: '0700' }],
    artifacts: program.artifacts,
    files: [
      planTextFile(`${directory}/ca.crt`, identity.cas.kubernetes, { owner: name, mode: '0644' }),
      // kube-scheduler connects only to the local API server, because it must not be newer than its server.
      planLinuxKubeconfig(context, name, `https://127.0.0.1:${api.port}`, name),
    ],
    certificates: [
      planClientCertificate(context, { ...own, path: `${directory}/client`, commonName: user }),
      planServerCertificate(
        context,
        { ...own, path: `${directory}/server`, commonName: name },
        { dns: ['localhost'], ip: ['127.0.0.1'] },
      ),
    ],
    service: buildSystemdService(
      {
        name,
        description: 'Kubernetes scheduler',
        after: ['kube-apiserver'],
        type: 'exec',
        user: name,
        command: [`${program.directory}/${name}`, ...toFlags(args)],
        memoryFloor: formatMemoryFloor(name),
        settings: sandboxSettings(),
      },
      system,
    ),
    probes: [
      planLocalProbe({
        name: 'healthz',
        check: { kind: 'http', url: 'https://127.0.0.1:10259/healthz', caFile: `${directory}/ca.crt` },
      }),
    ],
  })
}
