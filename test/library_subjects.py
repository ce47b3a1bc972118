"""Which subject of docs/library.md a function of the library belongs to."""

SUBJECTS = {
    "Scaling": "normalize normalizeApply scale scaleApply scaleMinMax scaleRobust scaleRobustApply sigmoid softmax",
    "Splitting and sampling": "adasyn ampute smote split splitBalanced tomeklink underSampling",
    "Missing cells": "ema imputeByFD imputeByFDApply imputeByKNN imputeByMean imputeByMeanApply imputeByMedian "
                     "imputeByMedianApply imputeByMode imputeByModeApply mice miceApply na_locf statsNA",
    "Outliers": "outlier outlierByArima outlierByIQR outlierByIQRApply outlierBySd outlierBySdApply winsorize winsorizeApply",
    "Cleaning": "apply_pipeline bandit correctTypos correctTyposApply dedup denialConstraints discoverFD dmv executePipeline "
                "fit_pipeline fixInvalidLengths fixInvalidLengthsApply mdedup topk_cleaning xdummyTypo",
    "Encoding": "expandCategories frameSort frequencyEncode frequencyEncodeApply getCategoricalMask toOneHot vectorToCsv WoE WoEApply",
    "Selection of columns": "impurityMeasures selectByVarThresh",
    "Sets and relations": "intersect raGroupby raJoin raSelection setdiff symmetricDifference takeRows union",
    "Statistics": "bivar cor differenceStatistics dist flattenQuantile interQuantile logSumExp millsRatio skewness sqrtMatrix "
                  "sqrtMatrixJava stratstats univar",
    "Quality of predictions": "auc confusionMatrix f1Score fdr getAccuracy mae mape mcc mse msmape nrmse psnr rmse smape wer",
    "Regression": "csplineCG csplineDS cspline cvlm glm glmPredict lasso lm lmCG lmDS lmPredict lmPredictStats steplm",
    "Classification": "gaussianClassifier gaussianScores knn knnbf knnGraph l2svm l2svmPredict msvm msvmPredict multiLogReg "
                      "multiLogRegPredict naiveBayes naiveBayesPredict",
    "Trees": "boostedSums decisionTree decisionTreePredict randomForest randomForestPredict xgboost xgboostPredictClassification "
             "xgboostPredictRegression",
    "Clustering": "dbscan dbscanApply gmm gmmPredict kmeans kmeansPredict quantizeByCluster quantize_compress "
                  "rowClassMeet",
    "Components and factors": "als alsCG alsDS alsPredict alsTopkPredict gnmf pca pcaInverse pcaTransform pnmf ppca tSNE",
    "Graphs and matching": "components deepWalk hospitalResidencyMatch pageRank shortestPath stableMarriage",
    "Time series": "arima garch matrixProfile ses",
    "Survival": "cox km",
    "Choice of models": "abstain crossV gridSearch hyperband incSliceLine shapExplainer sliceLine sliceLineDebug "
                        "sliceLineExtract slicefinder",
    "Neural networks": "autoencoder_2layer batch_norm2d batch_norm2d_backward bias_add bias_multiply ffPredict ffTrain "
                       "independentSubnetTrain lenetPredict lenetTrain lstm lstm_backward paramserv sherlock sherlockPredict",
    "Texts": "cooccurrenceMatrix glove",
    "Pictures": "img_brightness img_brightness_linearized img_crop img_crop_linearized img_cutout img_cutout_linearized "
                "img_invert img_invert_linearized img_mirror img_mirror_linearized img_posterize img_posterize_linearized "
                "img_rotate img_rotate_linearized img_sample_pairing img_sample_pairing_linearized img_shear "
                "img_shear_linearized img_transform img_transform_linearized img_translate img_translate_linearized",
}


def subject_of(name):
    for subject, names in SUBJECTS.items():
        if name in names.split():
            return subject
    raise ValueError(f"lib/{name}.dml: which subject of docs/library.md it belongs to must stand in test/library_subjects.py")
