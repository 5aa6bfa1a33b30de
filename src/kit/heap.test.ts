import { array, assert, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { Heap } from './heap.ts'

test('what comes out is in order, whatever was put in and taken out before', () => {
  // What is below zero takes one out.
  assert(
    property(array(integer({ min: -3, max: 20 })), (acts) => {
      const heap = new Heap<number>((a, b) => a < b)
      let model: number[] = []
      for (const act of acts) {
        const taken = act < 0 ? [heap.take(), model.shift()] : []
        expect(taken[0]).toBe(taken[1])
        if (act >= 0) {
          heap.put(act)
          model = [...model, act].toSorted((a, b) => a - b)
        }
        expect([heap.first, heap.size]).toEqual([model[0], model.length])
      }
    }),
  )
})
