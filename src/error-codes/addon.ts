import type { Entries } from './entry.ts'

export const addon: Entries = {
  ADDON_NAME: {
    summary: 'An addon has a name that no object could have.',
    meaning: 'The name becomes a label of every object of the addon, and part of the name of its inventory.',
    remedy: 'Take lower-case letters, digits and dashes, at most 63 of them.',
  },
  ADDON_JOB: {
    summary: 'An addon has a Job among its manifests.',
    meaning:
      'Addons are kept as they are wished, whenever that is asked for. A Job is done once, and cannot be changed: there is nothing to keep.',
    remedy: 'Do it in an init container of the workload that needs it, or make it a CronJob.',
  },
  ADDON_OBJECT_TWICE: {
    summary: 'Two manifests are about the same object.',
    meaning: 'The two would change it to and fro, and the one that goes would take it away from the other.',
    remedy: 'Leave it in one of them.',
  },
  ADDON_TOO_LARGE: {
    summary: 'An addon has more objects than can be remembered.',
    meaning:
      'What an addon has put into the cluster is in one ConfigMap of kube-system, which holds some thousands of objects. Nothing was changed.',
    remedy: 'Make two addons of it.',
  },
  ADDON_INVENTORY_NOT_READ: {
    summary: 'What an addon has put into the cluster cannot be read.',
    meaning:
      'A ConfigMap hyperkube-addon-NAME in kube-system was changed by somebody else, or was written by a newer hyperkube. Nothing was changed, because what is no longer wished would be forgotten.',
    remedy:
      'For a newer one: use that hyperkube. Otherwise restore the ConfigMap from a copy, or delete it: all that is wished will be entered anew, but counts as found then, and stays when the addon goes.',
  },
  ADDON_CONFLICT: {
    summary: 'Somebody else has set a field that an addon wishes otherwise.',
    meaning:
      'Every field belongs to whoever has set it: a person with kubectl, an autoscaler, an operator. Objects that were put there before this one stay as they are.',
    remedy:
      'Leave the field out of the manifest, if the other shall decide on it; or take it over with `force: true` of the addon. `kubectl get KIND NAME -o yaml --show-managed-fields` shows who has which field.',
  },
  ADDON_NOT_READY: {
    summary: 'Some of an addon was applied, and did not become ready in time.',
    meaning:
      'The next wave of its objects was not begun, and nothing was removed. The message says what is not ready and, where that can be seen, why.',
    remedy:
      '`kubectl describe` of the object, and `kubectl get events -n NAMESPACE --sort-by=.lastTimestamp`. Then run the command again: it goes on where it ended.',
  },
  ADDON_NOT_GONE: {
    summary: 'An object that an addon no longer has was removed, and is still there.',
    meaning:
      'Its finalizers say who has to do something first; often that is a program which no longer runs. It is still in the inventory of the addon.',
    remedy:
      '`kubectl get KIND NAME -o jsonpath={.metadata.finalizers}` names them. Once it is gone, run the command again.',
  },
  ADDON_OBJECT_LEFT: {
    summary: 'An object is no longer part of an addon, and stays.',
    meaning:
      'It was there before the addon, or somebody has made it anew under the same name. hyperkube removes only what it has made.',
    remedy: 'If nobody needs it, delete it with the command of the hint.',
  },
  ADDON_NAMESPACE_IN_USE: {
    summary: 'A namespace is no longer part of an addon, and stays because of what is in it.',
    meaning: 'With the namespace, all that others have put into it would go.',
    remedy: 'Move it elsewhere or delete it; the next run removes the namespace.',
  },
  ADDON_DEFINITION_IN_USE: {
    summary:
      'A CustomResourceDefinition is no longer part of an addon, and stays because there are objects of its kind.',
    meaning: 'With the definition, all objects of its kind would go, whoever has made them.',
    remedy: 'Delete them, if nobody needs them; the next run removes the definition.',
  },
  ADDON_PATCH_UNUSED: {
    summary: 'A patch is for an object that the addon does not have.',
    meaning: 'It is not passed over, because what it should change would silently stay as it is.',
    remedy: 'Take `kind` and `name` from the list in the hint.',
  },
  ADDON_PATCH_WRONG: {
    summary: 'A patch would make another object of the one that it is for.',
    remedy: 'Leave out `apiVersion`, `kind`, `metadata.name` and `metadata.namespace`.',
  },
  ADDON_SOURCE_MISSING: {
    summary: 'A file or directory that an addon is made of is not there.',
    meaning: 'Nothing was changed: what the addon has in the cluster would otherwise be taken away.',
    remedy:
      'Names are relative to the directory of cluster.yml. To take the addon out of the cluster, set `enabled: false`.',
  },
  ADDON_SOURCE_NOT_YAML: {
    summary: 'A text that an addon is made of is not YAML.',
    remedy: 'Look at the line of the message, and at the line above.',
  },
  ADDON_SOURCE_NOT_MANIFEST: {
    summary: 'A document is not a manifest.',
    meaning:
      'Every object says `apiVersion`, `kind` and `metadata.name`; `generateName` is not enough, as it would be another object each time.',
    remedy:
      'Add what is missing. A Helm chart or a kustomization must be rendered first: `helm template`, `kubectl kustomize`.',
  },
  ADDON_SOURCE_EMPTY: {
    summary: 'A text that an addon is made of holds no manifest.',
    meaning: 'Most often a copy that was interrupted. What the addon has in the cluster would be taken away.',
    remedy: 'Restore the file. To take the addon out of the cluster, set `enabled: false`.',
  },
  ADDON_SOURCE_CHANGED: {
    summary: 'What is at an address is not what somebody has read there.',
    meaning:
      'The digest in cluster.yml is of another text: the author has changed it, or somebody on the way has. Nothing was changed.',
    remedy: 'Read what is there now. If it is what you want, write its digest into cluster.yml.',
  },
  ADDON_REFUSED: {
    summary: 'The API does not take an object of an addon as it is.',
    meaning:
      'Often a field cannot be changed once the object is there, such as the selector of a Deployment. With `--ignore ADDON_REFUSED` all else is done, and the addon stays as it is.',
    remedy:
      'The message says what the API says. Where the field is immutable, delete the object, and up makes it anew.',
  },
  ADDON_API_SILENT: {
    summary: 'Addons cannot be looked at, because no API server answers.',
    remedy: '`hyperkube status` says what is wrong with which host.',
  },
  ADDON_UNKNOWN: {
    summary: 'There is no addon of that name.',
    remedy: '`hyperkube addon list` names all of them; those of your own are in `spec.addons`.',
  },
  NETWORK_POLICY_UNENFORCED: {
    summary: 'There are NetworkPolicies, and nothing that enforces them.',
    meaning:
      'flannel carries packets and asks nobody. All pods can reach each other, whatever the policies say.',
    remedy:
      'Where you need policies, take a network that enforces them: `spec.network.plugin: none`, and Calico, Cilium or another one as an addon of yours. Otherwise remove them, so that nobody relies on them.',
  },
}
