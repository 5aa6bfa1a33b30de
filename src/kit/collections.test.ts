import { array, assert, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { Heap } from './collections.ts'

test('a heap pops its items in order after any sequence of pushes and pops', () => {
  // A negative number stands for a pop, any other number is pushed.
  assert(
    property(array(integer({ min: -3, max: 20 })), (operations) => {
      const heap = new Heap<number>((a, b) => a < b)
      let model: number[] = []
      for (const operation of operations) {
        const popped = operation < 0 ? [heap.pop(), model.shift()] : []
        expect(popped[0]).toBe(popped[1])
        if (operation >= 0) {
          heap.push(operation)
          model = [...model, operation].toSorted((a, b) => a - b)
        }
        expect([heap.first, heap.size]).toEqual([model[0], model.length])
      }
    }),
  )
})
