import type { ErrorCodeEntries } from './entry.ts'

export const addonCodes: ErrorCodeEntries = {
  ADDON_NAME: {
    summary: 'The name of an addon is not a valid object name.',
    meaning:
      'The name becomes a label of every object of the addon, and a part of the name of its inventory.',
    remedy: 'Use lower-case letters, digits and dashes, at most 63 characters.',
  },
  ADDON_JOB: {
    summary: 'An addon contains a Job.',
    meaning:
      'hyperkube keeps addons in their desired state. A Job runs once and cannot be changed afterwards.',
    remedy: 'Use an init container of the workload that needs it, or a CronJob.',
  },
  ADDON_OBJECT_DUPLICATE: {
    summary: 'Two manifests define the same object.',
    meaning: 'Both would overwrite each other, and removing one would delete the object of the other.',
    remedy: 'Keep it in one of them.',
  },
  ADDON_TOO_LARGE: {
    summary: 'An addon has too many objects for its inventory.',
    meaning:
      'The inventory is one ConfigMap in kube-system, which holds some thousands of objects. Nothing was changed.',
    remedy: 'Split it into two addons.',
  },
  ADDON_INVENTORY_NOT_READ: {
    summary: 'hyperkube cannot read the inventory of an addon.',
    meaning:
      'Another program changed the ConfigMap hyperkube-addon-NAME in kube-system, or a newer hyperkube wrote it. Nothing was changed, because objects to prune would be forgotten.',
    remedy:
      'Use the newer release, or restore the ConfigMap from a copy. If you delete it, `hyperkube up` adopts the desired objects, but no longer deletes them with the addon.',
  },
  ADDON_CONFLICT: {
    summary: 'Another field manager owns a field that an addon sets to another value.',
    meaning:
      'The owner is a person with kubectl, an autoscaler or an operator. Objects that were applied before this one stay applied.',
    remedy:
      'Remove the field from the manifest, or take it over with `force: true` of the addon. `kubectl get KIND NAME -o yaml --show-managed-fields` shows the owners.',
  },
  GATEWAY_API_FOREIGN: {
    summary: 'The cluster has CRDs of the Gateway API that another program manages, in another version.',
    meaning:
      'Traefik needs them, and so does the other program. hyperkube does not replace them, because a change of version can break the other program.',
    remedy:
      'Set `spec.ingress.gatewayApi.crds: external`, and Traefik uses them if they are v1.4.0 or later. `kubectl get crd NAME -o yaml --show-managed-fields` shows the owners.',
  },
  GATEWAY_API_MISSING: {
    summary: 'The CRDs of the Gateway API are missing or too old.',
    meaning:
      '`spec.ingress.gatewayApi.crds` is `external`, so hyperkube does not install them. Traefik would serve no route, without an error.',
    remedy:
      'Install them in v1.4.0 or later before `hyperkube up`, or remove `crds: external`. In a new cluster, enable `gatewayApi` after the CRDs exist.',
  },
  ADDON_NOT_READY: {
    summary: 'Objects of an addon are not ready.',
    meaning:
      'The message names the objects and, if known, the cause. `up` did not start the next wave of objects, and deleted nothing.',
    remedy:
      'Run `kubectl -n NAMESPACE describe KIND NAME` and `kubectl get events -n NAMESPACE --sort-by=.lastTimestamp`. Then run the same command again; it resumes.',
    symptoms: ['no-pods'],
  },
  ADDON_NOT_REMOVED: {
    summary: 'An object that an addon no longer contains was deleted, but still exists.',
    meaning:
      'Its finalizers name the programs that must act first; often such a program no longer runs. The object stays in the inventory.',
    remedy:
      '`kubectl get KIND NAME -o jsonpath={.metadata.finalizers}` lists the finalizers. Once it is deleted, run the same command again.',
  },
  ADDON_OBJECT_LEFT: {
    summary: 'An object is no longer part of an addon, but is kept.',
    meaning:
      'It existed before the addon, another program created it again, or it has the annotation `helm.sh/resource-policy: keep`. CRDs of the Gateway API have this annotation, because all routes would be deleted with them.',
    remedy: 'If it is not needed, delete it with the command from the hint.',
  },
  ADDON_NAMESPACE_IN_USE: {
    summary: 'A namespace is no longer part of an addon, but is kept because it is in use.',
    meaning: 'Deleting it would delete foreign objects in it.',
    remedy: 'Move or delete those objects. The next run deletes the namespace.',
  },
  ADDON_DEFINITION_IN_USE: {
    summary:
      'A CustomResourceDefinition is no longer part of an addon, but is kept because objects of its kind exist.',
    meaning: 'Deleting it would delete all objects of its kind, also foreign ones.',
    remedy: 'Delete the objects if they are not needed. The next run deletes the definition.',
  },
  ADDON_PATCH_UNUSED: {
    summary: 'A patch matches no object of the addon.',
    meaning: 'hyperkube refuses it, because otherwise the patch would silently have no effect.',
    remedy: 'Use `kind` and `name` from the list in the hint.',
  },
  ADDON_PATCH_INVALID: {
    summary: 'A patch changes the identity of its object.',
    remedy: 'Remove `apiVersion`, `kind`, `metadata.name` and `metadata.namespace` from the patch.',
  },
  ADDON_SOURCE_MISSING: {
    summary: 'A source file or directory of an addon does not exist.',
    meaning: 'Nothing was changed, because otherwise the objects of the addon would be deleted.',
    remedy:
      'Paths are relative to the directory of cluster.yml. To remove the addon from the cluster, set `enabled: false`.',
  },
  ADDON_SOURCE_NOT_YAML: {
    summary: 'A source of an addon is not valid YAML.',
    remedy: 'Check the line in the message, and the line above.',
  },
  ADDON_SOURCE_NOT_MANIFEST: {
    summary: 'A document is not a Kubernetes manifest.',
    meaning:
      'Every object needs `apiVersion`, `kind` and `metadata.name`. `generateName` is not enough, because each run would create another object.',
    remedy:
      'Add the missing fields. For a Helm chart use `chart` instead of `files`. Render a kustomization first: `kubectl kustomize`.',
  },
  ADDON_SOURCE_EMPTY: {
    summary: 'A source of an addon contains no manifest.',
    meaning: 'The usual cause is an interrupted copy. The objects of the addon would be deleted.',
    remedy: 'Restore the file. To remove the addon from the cluster, set `enabled: false`.',
  },
  ADDON_SOURCE_CHANGED: {
    summary: 'The content of a URL does not match the digest in cluster.yml.',
    meaning: 'The author changed it, or an attacker on the network did. Nothing was changed.',
    remedy: 'Review the current content. If you accept it, set its digest in cluster.yml.',
  },
  CHART_HOOKS: {
    summary: 'A Helm chart has hooks, and hyperkube runs no hooks.',
    meaning:
      'Hooks are objects that Helm creates before or after other objects, such as Jobs that migrate a database. hyperkube keeps objects in their desired state instead. Nothing was changed.',
    remedy:
      'Many charts have a value that disables hooks. If the chart works without its hooks, set `hooks: ignore`. Test hooks are always omitted.',
  },
  CHART_NOT_REPRODUCIBLE: {
    summary: 'Two renderings of a Helm chart with the same values differ.',
    meaning:
      'The chart creates random passwords, keys or certificates, or uses the time. Every command would find changes and replace them. Nothing was changed.',
    remedy:
      'Set these values: passwords and keys by `secretValues`, others by `values`. The message names the objects; their templates show the values.',
  },
  CHART_SECRET_EXPOSED: {
    summary: 'A Helm chart writes a value of `secretValues` into an object that is no Secret.',
    meaning: 'Plans and `hyperkube addon diff` show such objects, and more users may read them.',
    remedy:
      'Use a value of the chart that names an existing Secret, if it has one. Otherwise set it in `values`, where everyone who reads cluster.yml sees it.',
  },
  CHART_SECRET_MISSING: {
    summary: 'A secret that `secretValues` of a chart names is not in the identity.',
    remedy: 'Store it with `hyperkube secret set NAME`.',
  },
  CHART_NOT_LOCKED: {
    summary: 'cluster.lock has another version, URL or digest of a chart, or none.',
    meaning: 'cluster.yml or the chart was changed after the lock was written. Nothing was changed.',
    remedy: 'Run `hyperkube lock`, and commit the lock.',
  },
  CHART_CHANGED: {
    summary: 'The files of a chart do not match the digest in cluster.lock.',
    meaning: 'The chart beside cluster.yml was edited or replaced. It was not rendered.',
    remedy: 'Review the change, for example with `git diff`. To accept it, run `hyperkube lock`.',
  },
  CHART_VERSION: {
    summary: 'A chart has another version than cluster.yml.',
    remedy: 'Set `version` to the version in Chart.yaml, or use the chart of that version.',
  },
  CHART_NOT_READ: {
    summary: 'A chart does not exist, is too large, or contains links.',
    meaning: 'A link could point to files that the digest in cluster.lock does not cover.',
    remedy:
      'Use the directory that contains Chart.yaml, or a .tgz file from `helm package`. Replace links by copies.',
  },
  CHART_NOT_RENDERED: {
    summary: 'Helm could not render a chart.',
    meaning: 'The message has the output of Helm, without secret values. Nothing was changed.',
    remedy:
      'Check the values. Put dependencies into the chart with `helm dependency build` on a machine with internet access.',
  },
  ADDON_REFUSED: {
    summary: 'The API rejects an object of an addon.',
    meaning:
      'Often a field is immutable, such as the selector of a Deployment. `--ignore ADDON_REFUSED` continues with everything else and leaves the addon unchanged.',
    remedy:
      'The message holds the error of the API. For an immutable field delete the object; `hyperkube up` creates it again.',
  },
  ADDON_API_UNREACHABLE: {
    summary: 'hyperkube cannot read addons, because no API server responds.',
    remedy: '`hyperkube status` shows the problem of each host.',
  },
  ADDON_UNKNOWN: {
    summary: 'The addon does not exist.',
    remedy: '`hyperkube addon list` lists all addons; your own are in `spec.addons`.',
  },
  ADDON_NEEDS_SETTINGS: {
    summary: 'The addon cannot be enabled without settings.',
    meaning: 'Only you know which addresses of your network are free.',
    remedy: 'Write the setting of the hint into cluster.yml instead of running `hyperkube addon enable`.',
  },
  NETWORK_POLICY_UNENFORCED: {
    summary: 'The cluster has NetworkPolicies, but no program enforces them. This is a warning.',
    meaning: '`spec.network.policy` is `none`, so all pods can reach each other.',
    remedy:
      'Remove `spec.network.policy`, so that kube-router enforces them. Otherwise delete the policies, because they give a false sense of security.',
  },
  NETWORK_POLICY_BEGINS: {
    summary: 'NetworkPolicies that had no effect so far will be enforced. This is a warning.',
    meaning:
      'The cluster was installed by a release without kube-router. `up` installs it on every Linux node.',
    remedy:
      'Check that the policies in the message allow what your pods need. To keep the previous behaviour, set `spec.network.policy: none`.',
  },
}
