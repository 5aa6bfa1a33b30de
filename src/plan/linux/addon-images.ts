import { buildComponentPlan, type ComponentPlanner, isNode, type LinuxPlanContext } from '../context.ts'

/**
 * Plans the pulls of addon images, so that addons can start without access to a registry. These pulls come
 * after the other components, because a node can be ready without them.
 */
export const planAddonImages: ComponentPlanner<LinuxPlanContext> = (context) => {
  const uniqueImages = [...new Set(context.images)].toSorted()
  if (!isNode(context) || uniqueImages.length === 0) return undefined
  return buildComponentPlan({ name: 'images', stage: 'network', needs: ['containerd'], images: uniqueImages })
}
