// An application that ends at once.
console.log('nothing');
