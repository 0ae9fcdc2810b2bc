/* Programmatic dependent launch in a graph: three pairs are captured, and launched again and again. */
#include "pdl.h"

int main()
{
    struct pairs pairs;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    begin_pairs(&pairs);
    CHECK(cudaStreamBeginCapture(pairs.stream, cudaStreamCaptureModeGlobal));
    for (int k = 0; k < 3; k++)
        launch_pair(&pairs, 7);
    CHECK(cudaStreamEndCapture(pairs.stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    for (int round = 0; round < 4; round++)
        CHECK(cudaGraphLaunch(exec, pairs.stream));
    for (int k = 0; k < 12; k++)
        expect_pair(&pairs, 7);
    end_pairs(&pairs);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    printf("graph_pdl: ok %u\n", pairs.expected_sums);
    return 0;
}
