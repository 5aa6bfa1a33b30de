import { z } from 'zod'
import type { Os } from '../catalog/artifacts.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { checkArgs } from '../catalog/check-args.ts'
import { checkFeatureGates } from '../catalog/feature-gates.ts'
import type { ProgramName } from '../catalog/program-flags.ts'
import type { Finding } from '../contract/finding.ts'
import type { Problem } from '../spec/check-cluster.ts'
import type { Path } from '../spec/document.ts'

const programs: Readonly<Record<string, ProgramName>> = {
  etcd: 'etcd',
  apiServer: 'kube-apiserver',
  controllerManager: 'kube-controller-manager',
  scheduler: 'kube-scheduler',
  kubelet: 'kubelet',
  kubeProxy: 'kube-proxy',
  flanneld: 'flanneld',
  kubeRouter: 'kube-router',
}

interface ComponentSettings {
  readonly args?: Readonly<Record<string, string>> | undefined
  /** Part of the component's configuration file. */
  readonly config?: Readonly<Record<string, unknown>> | undefined
}

type WithArgs = Readonly<Record<string, ComponentSettings | undefined>>

/** Finds flags and feature gates of components in cluster.yml that programs of a Kubernetes version do not accept. */
export function findFlagProblems(
  catalog: Catalog,
  components: WithArgs,
  path: Path,
  version: string,
  os: Os,
): Problem[] {
  return Object.entries(programs).flatMap(([name, program]) => {
    const { args = {}, config = {} } = components[name] ?? {}
    const gates = gatesSchema.safeParse(config['featureGates']).data ?? {}
    return [
      ...Object.entries(args).flatMap(([flag, value]) =>
        checkArgs(catalog, program, { [flag]: value }, version, os).map(
          toProblem([...path, name, 'args', flag]),
        ),
      ),
      ...checkFeatureGates(program, gates, version).map(toProblem([...path, name, 'config', 'featureGates'])),
    ]
  })
}

const gatesSchema = z.record(z.string(), z.unknown().transform(String))

function toProblem(path: Path): (finding: Finding) => Problem {
  return ({ code, severity, message, hint }) => ({
    code,
    severity,
    message,
    ...(hint === undefined ? {} : { hint }),
    path,
  })
}
