import { stringify } from 'yaml'
import type { NodePlan } from '../../contract/node-plan.ts'
import { buildKubeadmObjects, buildNodeObjects } from './cluster-objects.ts'
import { buildControlPlaneFiles } from './control-plane-files.ts'
import { type EjectInput, isControlPlanePlan } from './eject-context.ts'
import type { CredentialSpec, EjectDocuments, EjectFile } from './eject-file.ts'
import { renderHostScript } from './host-script.ts'
import { buildClusterConfiguration, buildInitConfiguration } from './kubeadm-config.ts'
import { buildNodeFiles, kubeletUnit } from './node-files.ts'
import { renderReadme } from './readme.ts'

/** Builds all files of the output directory. Pure: secrets and certificates are only named. */
export function buildEject(input: EjectInput): EjectDocuments {
  const controlPlane = input.plans.find(isControlPlanePlan)
  const hosts = input.plans.map((plan) => buildHost(input, plan))
  return {
    credentials: new Map(hosts.flatMap(({ credentials }) => [...credentials])),
    files: [
      textFile('README.md', renderReadme(input)),
      ...(controlPlane === undefined
        ? []
        : [
            textFile('cluster/objects.yaml', renderDocuments(buildKubeadmObjects(input, controlPlane))),
            textFile('cluster/nodes.yaml', renderDocuments(buildNodeObjects(input))),
          ]),
      ...hosts.flatMap(({ files }) => files),
    ],
  }
}

function buildHost(input: EjectInput, plan: NodePlan): EjectDocuments {
  const directory = `hosts/${plan.host}`
  const parts = [
    buildNodeFiles(input, plan),
    ...(isControlPlanePlan(plan) ? [buildControlPlaneFiles(input, plan)] : []),
  ]
  const rename = (credential: string): string => `${plan.host}/${credential}`
  const files = parts
    .flatMap((part) => part.files)
    .map(({ path, content }): EjectFile => ({
      path: `${directory}/files${path}`,
      content: 'credential' in content ? { ...content, credential: rename(content.credential) } : content,
    }))
  const credentials = parts.flatMap((part) => [...part.credentials])
  const configuration = [
    buildInitConfiguration(plan, input.cluster.spec.api.port),
    buildClusterConfiguration(input, plan),
  ]
  return {
    credentials: new Map(credentials.map(([name, spec]): [string, CredentialSpec] => [rename(name), spec])),
    files: [
      { ...textFile(`${directory}/eject.sh`, renderHostScript(input, plan)), executable: true },
      textFile(`${directory}/kubelet.service`, kubeletUnit),
      ...(isControlPlanePlan(plan)
        ? [textFile(`${directory}/kubeadm.yaml`, renderDocuments(configuration))]
        : []),
      ...files.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    ],
  }
}

function textFile(path: string, text: string): EjectFile {
  return { path, content: { kind: 'text', text } }
}

function renderDocuments(documents: readonly object[]): string {
  return documents
    .map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n')
}
